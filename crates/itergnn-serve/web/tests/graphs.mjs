// The page of graphs, step by step.

import { check, until } from "./harness.mjs";
import { answered, chooseExact, colours, iterations, seek, shows, text, verdict } from "./steps.mjs";

/** Generates graphs, watches the iterations, changes the colours, stops where the model stops. */
export async function watchGraphs(page, shoot) {
  await answered(page, "graph", undefined, 0);
  await chooseExact(page, "graph", "paths");
  const first = await verdict(page, "graph");
  check(first.includes("a shortest path"), `the first graph is solved: ${first}`);
  check(/exact length/.test(first) && /distance \/ 2/.test(first), "exact length and half the distance are shown");
  check(/stopped after \d+ iterations: found a shortest path/.test(await text(page, "#status")), "the result is read out");
  await shows(page, "#graph-panes canvas.picture", "--found");
  await shows(page, "#graph-panes canvas.picture", "--exact");
  // The curves of confidence and of the mass that is left, and the line where it stops.
  for (const colour of ["#3b82f6", "#e8590c", "--good"]) await shows(page, "#graph-panes canvas.curve", colour);
  const most = await iterations(page, "graph");
  await seek(page, "graph", Math.ceil(most / 2));
  const half = await text(page, "#graph-panes .sentence");
  check(half.includes(`After ${Math.ceil(most / 2)} of`), `the sentence follows the slider: ${half}`);
  check(!half.includes("stopped"), "half way it has not stopped");
  check((await colours(page, "#graph-panes canvas.picture")) > 10, "states have colours");
  await shoot(page, "graph");
  await seek(page, "graph", most);
  check((await text(page, "#graph-panes .sentence")).includes("it has stopped"), "at the end it says that it stopped");

  for (const colouring of ["change", "channel"]) {
    await page.selectOption("#graph-colour", colouring);
    await seek(page, "graph", 2);
    check((await colours(page, "#graph-panes canvas.picture")) > 3, `${colouring} has colours`);
  }
  check(await page.locator("#graph-channel").isEnabled(), "a channel can be chosen");
  await page.locator("#graph-channel").fill("3");
  await answered(page, "graph", () => page.locator("#graph-channel").press("Enter"));
  await page.selectOption("#graph-colour", "norm");

  for (const kind of ["planar", "knn", "maze", "grid", "tree", "er", "cycle"]) {
    await page.selectOption("#graph-generator", kind);
    await page.locator("#graph-size").fill("49");
    await answered(page, "graph", () => page.click("#graph-draw"));
    check((await text(page, "#graph-count")).includes("49 nodes"), `${kind} has 49 nodes`);
  }
}

/** Plays with the button and sees the slider move by itself. */
export async function playIterations(page) {
  await page.selectOption("#graph-generator", "lobster");
  await page.locator("#graph-size").fill("40");
  await answered(page, "graph", () => page.click("#graph-draw"));
  await seek(page, "graph", 0);
  await page.click("#graph-play");
  await until(() => page.locator("#graph-slider").inputValue(), (at) => Number(at) >= 2, "the slider to move");
  await page.click("#graph-play");
  const at = await page.locator("#graph-slider").inputValue();
  await page.waitForTimeout(300);
  check((await page.locator("#graph-slider").inputValue()) === at, "pause stops the slider");
  await page.click("#graph-forward");
  check(Number(await page.locator("#graph-slider").inputValue()) === Number(at) + 1, "one step on is one step on");
}

/** Two models beside each other, each with its name and what is built in. */
export async function compareModels(page, shoot) {
  const options = await page.locator("#graph-model-2 option").allInnerTexts();
  check(options.length > 2, "there are models to compare");
  const names = await page.locator("#graph-model-1 option").evaluateAll((all) => all.map((option) => option.value));
  await page.selectOption("#graph-generator", "lobster");
  await page.locator("#graph-size").fill("60");
  await page.selectOption("#graph-model-1", names[0]);
  const badges = () => page.locator("#graph-panes .pane .badge").allInnerTexts();
  await answered(page, "graph", () => page.selectOption("#graph-model-2", names.at(-1)));
  await until(() => page.locator("#graph-panes .pane").count(), (count) => count === 2, "two panes");
  await answered(page, "graph", () => page.click("#graph-draw"));
  for (const at of [0, 1]) {
    const pane = await page.locator("#graph-panes .pane").nth(at).innerText();
    check(pane.includes("Built in:"), `pane ${at} says what is built in`);
    check(pane.startsWith(names.at(-at)), `pane ${at} has the model's name: ${pane}`);
  }
  check((await badges()).join() === "learned network,task-aligned", `one is learned, one is not: ${await badges()}`);
  await until(
    () => page.locator("#graph-panes .pane").nth(1).innerText(),
    (found) => found.includes("the walk found"),
    "the second model's path",
  );
  await seek(page, "graph", Math.ceil((await iterations(page, "graph")) / 2));
  await shoot(page, "two-models");
  // What is asked here is answered here: an answer that comes late would be taken for that of the next flow.
  await answered(page, "graph", () => page.selectOption("#graph-model-2", ""));
  await until(() => page.locator("#graph-panes .pane").count(), (count) => count === 1, "one pane");
}

/** Chooses the ends with the mouse: the model is asked about them. */
export async function chooseEnds(page) {
  await page.selectOption("#graph-generator", "planar");
  await page.locator("#graph-size").fill("30");
  await answered(page, "graph", () => page.click("#graph-draw"));
  const canvas = page.locator("#graph-panes canvas.picture").first();
  const { width, height } = await canvas.boundingBox();
  for (const [tool, field, place] of [["from", "#graph-from", 0.35], ["to", "#graph-to", 0.65]]) {
    const before = await page.locator(field).inputValue();
    await page.check(`input[name="tool"][value="${tool}"]`);
    // Somewhere along this line there is another node.
    await answered(page, "graph", async () => {
      for (let at = 0.1; at < 0.9 && (await page.locator(field).inputValue()) === before; at += 0.03) {
        await canvas.click({ position: { x: width * (0.5 + (place - 0.5) * 0.9), y: height * at } });
      }
    });
    check((await page.locator(field).inputValue()) !== before, `a click chooses another end ${tool}`);
  }
  await page.check('input[name="tool"][value="look"]');
  await answered(page, "graph", () => page.click("#graph-ask"));
}

/** Draws five nodes in a row with the mouse, joins them, and lets the model find the way. */
export async function drawByHand(page) {
  await chooseExact(page, "graph", "paths");
  await page.click("#graph-empty");
  const canvas = page.locator("#graph-panes canvas.picture").first();
  const box = await canvas.boundingBox();
  const place = (at) => ({ x: box.width * (0.3 + 0.1 * at), y: box.height * (0.4 + 0.05 * (at % 2)) });
  for (let at = 0; at < 5; at++) await canvas.click({ position: place(at) });
  check((await text(page, "#graph-count")).startsWith("5 nodes"), "five nodes are drawn");
  await page.check("#tool-edge");
  for (let at = 0; at < 5; at++) await canvas.click({ position: place(at) });
  check((await text(page, "#graph-count")).includes("4 edges"), "four edges join them");
  await page.locator("#graph-to").fill("4");
  const found = await answered(page, "graph", () => page.locator("#graph-to").press("Enter"));
  check(/exact length\s+4\b/.test(found), `the row is four edges long: ${found}`);
}

/** The same without a mouse. */
export async function drawByKeyboard(page) {
  await page.click("#graph-empty");
  const canvas = page.locator("#graph-panes canvas.picture").first();
  await canvas.focus();
  for (const key of ["n", "n", "n"]) await page.keyboard.press(key);
  check((await text(page, "#graph-count")).startsWith("3 nodes"), "three nodes by keyboard");
  await page.keyboard.press("e");
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
    await page.keyboard.press(key);
    if ((await text(page, "#status")) !== "node 2") break;
  }
  await page.keyboard.press("e");
  await until(() => text(page, "#graph-count"), (count) => count.includes("1 edges"), "an edge by keyboard");
}

/** A good file is shown, a bad one is explained. */
export async function dropFiles(page) {
  const put = (name, content) =>
    page.setInputFiles("#graph-file", { name, mimeType: "text/plain", buffer: Buffer.from(content) });
  await answered(page, "graph", undefined, 0);
  await chooseExact(page, "graph", "paths");
  const row = "p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 2\na 3 2 2\n";
  const found = await answered(page, "graph", () => put("row.gr", row));
  check(/exact length\s+7\b/.test(found), `the file's path has length 7: ${found}`);
  await put("broken.gr", "p sp 3 1\na 1 9 5\n");
  const message = await until(() => text(page, "#status"), (said) => /broken.gr.*2/.test(said), "the message");
  check((await page.locator("#status.bad").count()) === 1, `it is shown as an error: ${message}`);
  // Dropped, not chosen.
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["0 1\n1 2\n2 nonsense\n"], "dropped.edges"));
    document.getElementById("graphs").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
  });
  await until(() => text(page, "#status"), (said) => /dropped.edges.*3/.test(said), "the message of the drop");
}

/** Ten thousand nodes: the slider stays smooth. */
export async function stayLarge(page, shoot) {
  await page.selectOption("#graph-generator", "planar");
  await chooseExact(page, "graph", "paths");
  await page.locator("#graph-size").fill("10000");
  await answered(page, "graph", () => page.click("#graph-draw"));
  check((await text(page, "#graph-count")).includes("10,000"), "10,000 nodes");
  check((await iterations(page, "graph")) > 3, "there is something to watch");
  // How far apart the browser's frames are while the iterations play, and how long our part of one takes.
  await seek(page, "graph", 0);
  await page.selectOption("#graph-speed", "60");
  await page.click("#graph-play");
  const frames = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const found = { apart: [], drawn: [] };
        let last = performance.now();
        const tick = (now) => {
          found.apart.push(now - last);
          found.drawn.push(window.itergnnFrameTime());
          last = now;
          if (found.apart.length < 90) requestAnimationFrame(tick);
          else resolve(found);
        };
        requestAnimationFrame(tick);
      }),
  );
  const share = (times, part) => times.sort((a, b) => a - b)[Math.floor((times.length - 1) * part)];
  const [middle, late, own] = [share(frames.apart, 0.5), share(frames.apart, 0.95), share(frames.drawn, 0.5)];
  await seek(page, "graph", Math.ceil((await iterations(page, "graph")) / 2));
  await shoot(page, "ten-thousand");
  await page.selectOption("#graph-speed", "12");
  const said = `${middle.toFixed(1)} ms apart (95% within ${late.toFixed(1)} ms), ${own.toFixed(1)} ms of it ours`;
  console.log(`    10,000 nodes at 60 iterations per second: frames ${said}`);
  // A loaded machine is slower; ten frames per second is where nobody would call it smooth any more.
  check(middle < 100, `frames are ${said}`);
}
