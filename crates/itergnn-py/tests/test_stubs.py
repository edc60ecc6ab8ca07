"""The type stub of the Rust part against the module itself."""

import ast
import inspect
import pathlib

import itergnn
from itergnn import _core

STUB = pathlib.Path(itergnn.__file__).with_name("_core.pyi")


def parameters_of_stub(function: ast.FunctionDef, bound: bool) -> list[str]:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    names = names[1:] if bound else names
    names += [argument.arg for argument in arguments.kwonlyargs]
    return names + ([arguments.kwarg.arg] if arguments.kwarg else [])


def parameters_of(function) -> list[str]:
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "cls")]


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_") or name == "_panic_for_tests"}


def test_the_package_is_typed():
    assert STUB.with_name("py.typed").exists()


def test_names_of_the_stub_are_those_of_the_module():
    tree = ast.parse(STUB.read_text())
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert public(defined) == public(vars(_core))


def test_signatures_of_the_stub_are_those_of_the_module():
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            assert parameters_of_stub(node, bound=False) == parameters_of(getattr(_core, node.name)), node.name
        if isinstance(node, ast.ClassDef):
            members(node, getattr(_core, node.name))


def members(node: ast.ClassDef, found: type) -> None:
    stubbed = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    assert public(stubbed) == public(vars(found)), node.name
    for name, item in stubbed.items():
        member = vars(found).get(name)
        where = f"{node.name}.{name}"
        is_property = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in item.decorator_list)
        assert is_property == inspect.isgetsetdescriptor(member), where
        if name == "__init__":
            assert parameters_of_stub(item, bound=True) == parameters_of(found), where
        elif not is_property and not name.startswith("__"):
            static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in item.decorator_list)
            assert parameters_of_stub(item, bound=not static) == parameters_of(getattr(found, name)), where


def test_everything_public_has_a_docstring():
    for name in itergnn.__all__:
        assert inspect.getdoc(getattr(itergnn, name)), name
    for found in vars(_core).values():
        if inspect.isclass(found):
            for name in public(vars(found)):
                assert inspect.getdoc(getattr(found, name)), f"{found.__name__}.{name}"
