//! GraphML files.

use std::{
    collections::{BTreeMap, HashMap},
    io::BufRead,
};

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::{
    FormatError, GraphFile, NodeNames, ReadOptions,
    edge_columns::{HOW_TO_CHOOSE_WEIGHT, choose_weight, list, only_numbers_edges},
    edge_rows::{EdgeRows, Numbering},
    error::{REASON_LIMIT, excerpt, one_line},
    json_graph::JSON_LIMIT,
    lines::{Lines, Position},
};
use crate::GraphError;

/// Reads GraphML, as networkx, igraph and yEd write it.
///
/// Nodes keep their ids as names. An edge leads both ways unless `edgedefault` or its own `directed` says otherwise.
/// The weight is the edge data whose name is called like one (weight, length, distance, ..) or that
/// [`ReadOptions::columns`] names; other data with numbers is an error where there is no weight. Nested graphs and
/// hyperedges are refused. A file has at most [`JSON_LIMIT`] bytes.
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn parse_graphml(reader: impl BufRead, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    read_graphml_lines(Lines::new(reader, file), options)
}

pub(crate) fn read_graphml_lines(lines: Lines<impl BufRead>, options: &ReadOptions) -> Result<GraphFile, FormatError> {
    let mut lines = lines.with_limit(JSON_LIMIT);
    let file = lines.file().to_owned();
    let text = lines.rest()?;
    let mut document = Document::default();
    document.read(text, &file)?;
    document.into_graph(&file, options)
}

/// An edge as it stands in the file.
struct Edge {
    ends: [u64; 2],
    undirected: bool,
}

#[derive(Default)]
struct Document {
    names: Vec<String>,
    places: HashMap<String, u64>,
    /// How many of the names are nodes that the file lists; an edge may come before its nodes.
    listed: Vec<bool>,
    edges: Vec<Edge>,
    /// What each key of edge data is called, and its default.
    keys: HashMap<String, (String, Option<f64>)>,
    /// Edge and number by the name of the data.
    data: BTreeMap<String, Vec<(usize, f64)>>,
    undirected: bool,
    in_graph: bool,
    /// The key whose default comes next.
    key: String,
}

/// What the text inside an element is for.
enum Inside {
    Nothing,
    Data(String),
    Default,
}

impl Document {
    fn read(&mut self, text: &str, file: &str) -> Result<(), FormatError> {
        let mut reader = Reader::from_str(text);
        let (mut path, mut inside, mut content) = (Vec::<String>::new(), Inside::Nothing, String::new());
        // Lines are counted up to where the last event began, once: errors are rare and the text is long.
        loop {
            let at = reader.buffer_position() as usize;
            let fault = |what: &'static str, expected: &str, found: String| {
                let number = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
                Position { file, number }.error(what, expected, found)
            };
            let event = reader
                .read_event()
                .map_err(|error| fault("XML", "well-formed text", one_line(&error.to_string(), REASON_LIMIT)))?;
            let (start, empty) = match &event {
                Event::Start(start) => (Some(start), false),
                Event::Empty(start) => (Some(start), true),
                _ => (None, false),
            };
            if let Some(start) = start {
                let name = start.local_name().as_ref().to_owned();
                let parent = path.last().map_or("", String::as_str);
                let entered = self.enter(&name, parent, start);
                inside = entered.map_err(|(what, expected, found)| fault(what, expected, found))?;
                content.clear();
                if !empty {
                    path.push(name);
                    if path.len() > 64 {
                        return Err(fault("XML", "elements nested less deep", "64".to_owned()));
                    }
                }
                continue;
            }
            match event {
                Event::Text(text) => content.push_str(&text.xml10_content()),
                Event::CData(text) => content.push_str(&text.xml10_content()),
                Event::GeneralRef(_) => content.push('&'),
                Event::End(_) => {
                    path.pop();
                    self.leave(std::mem::replace(&mut inside, Inside::Nothing), content.trim());
                }
                Event::Eof => break,
                _ => {}
            }
        }
        let missing = self.names.iter().zip(&self.listed).find(|(_, listed)| !**listed);
        match missing {
            Some((name, _)) => {
                Err(Position { file, number: 1 }.error("edge", "ids of nodes in the file", excerpt(name)))
            }
            None if !self.in_graph => Err(Position { file, number: 1 }.error("GraphML", "an element graph", "none")),
            None => Ok(()),
        }
    }

    fn enter(
        &mut self,
        name: &str,
        parent: &str,
        start: &BytesStart<'_>,
    ) -> Result<Inside, (&'static str, &'static str, String)> {
        let attribute = |wanted: &str| {
            let found = start.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == wanted);
            found
                .and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok())
                .map(|value| value.into_owned())
        };
        let needed = |wanted: &'static str| attribute(wanted).ok_or(("attribute", wanted, "none".to_owned()));
        match name {
            "graph" if self.in_graph => return Err(("GraphML", "one graph", "another or a nested one".to_owned())),
            "graph" => {
                self.in_graph = true;
                self.undirected = attribute("edgedefault").as_deref() != Some("directed");
            }
            "hyperedge" => return Err(("GraphML", "edges with two ends", "a hyperedge".to_owned())),
            "key" => {
                let id = needed("id")?;
                if matches!(attribute("for").as_deref(), Some("edge" | "all") | None) {
                    let called = attribute("attr.name").unwrap_or_else(|| id.clone());
                    self.keys.insert(id.clone(), (called, None));
                }
                self.key = id;
            }
            "default" if parent == "key" => return Ok(Inside::Default),
            "node" => {
                let place = self.place(needed("id")?) as usize;
                if std::mem::replace(&mut self.listed[place], true) {
                    return Err(("node", "an id of its own", excerpt(&self.names[place])));
                }
            }
            "edge" => {
                let ends = [self.place(needed("source")?), self.place(needed("target")?)];
                let own = attribute("directed").map(|value| value == "false");
                self.edges.push(Edge { ends, undirected: own.unwrap_or(self.undirected) });
            }
            "data" if parent == "edge" => return Ok(Inside::Data(needed("key")?)),
            _ => {}
        }
        Ok(Inside::Nothing)
    }

    fn leave(&mut self, inside: Inside, content: &str) {
        let Ok(number) = content.parse::<f64>() else { return };
        match (inside, self.edges.len().checked_sub(1)) {
            (Inside::Data(key), Some(edge)) => {
                let name = self.keys.get(&key).map_or(key, |(name, _)| name.clone());
                self.data.entry(name).or_default().push((edge, number));
            }
            (Inside::Default, _) => {
                if let Some((_, default)) = self.keys.get_mut(&self.key) {
                    *default = Some(number);
                }
            }
            _ => {}
        }
    }

    fn place(&mut self, name: String) -> u64 {
        let next = self.names.len() as u64;
        *self.places.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.listed.push(false);
            next
        })
    }

    fn into_graph(self, file: &str, options: &ReadOptions) -> Result<GraphFile, FormatError> {
        let position = Position { file, number: 1 };
        let names: Vec<&str> = self.data.keys().map(String::as_str).filter(|name| !only_numbers_edges(name)).collect();
        let choice = options.columns.weight.as_deref();
        let fault = |(expected, found): (String, String)| position.error("edge data", expected, found);
        let weights = match choose_weight(&names, choice).map_err(fault)? {
            Some(place) => {
                let default =
                    self.keys.values().find(|(name, _)| name == names[place]).and_then(|(_, default)| *default);
                Some((&self.data[names[place]], default))
            }
            None if names.is_empty() || choice.is_some() => None,
            None => return Err(position.error("edge data", HOW_TO_CHOOSE_WEIGHT, list(names))),
        };
        let undirected = match options.directed {
            Some(directed) => !directed,
            None => self.edges.iter().all(|edge| edge.undirected),
        };
        let mut rows = EdgeRows::default();
        for (edge, Edge { ends, undirected: both }) in self.edges.iter().enumerate() {
            let weight = weights.map(|(weights, default)| {
                let found = weights.binary_search_by_key(&edge, |&(of, _)| of).map(|place| weights[place].1);
                match found.ok().or(default) {
                    Some(weight) if weight >= 0.0 && (weight as f32).is_finite() => Ok(weight),
                    Some(value) => Err(FormatError::graph(file)(GraphError::Weight { edge, value })),
                    None => {
                        Err(position.error("edge data", "a weight for every edge", format!("none for edge {edge}")))
                    }
                }
            });
            let weight = weight.transpose()?;
            rows.push(ends[0], ends[1], weight);
            if *both && !undirected && options.directed.is_none() {
                rows.push(ends[1], ends[0], weight);
            }
        }
        rows.into_graph(file, Numbering::Listed(NodeNames::words(self.names)), !undirected, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<GraphFile, FormatError> {
        let text = format!(
            "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
             <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n\
             <key id=\"d1\" for=\"edge\" attr.name=\"km\" attr.type=\"double\"><default>2</default></key>\n{body}</graphml>\n"
        );
        parse_graphml(text.as_bytes(), "t.graphml", &ReadOptions::default())
    }

    #[test]
    fn names_weights_and_directions_are_kept() {
        let read = read(
            "<graph edgedefault=\"undirected\"><node id=\"a &amp; b\"/><node id=\"n1\"><data key=\"x\">1</data></node>\n\
             <edge source=\"a &amp; b\" target=\"n1\"><data key=\"d0\"> 50000.0055 </data></edge></graph>",
        );
        let read = read.unwrap();
        assert_eq!((read.graph.edge_list(), read.weights.at(0)), (vec![[0, 1], [1, 0]], 50000.0055));
        assert_eq!((read.names.find("a & b"), read.warnings.len()), (Some(0), 1));
        let mixed = self::read(
            "<graph edgedefault=\"directed\"><edge source=\"0\" target=\"1\"/><edge source=\"1\" target=\"2\" directed=\"false\"/>\
             <node id=\"0\"/><node id=\"1\"/><node id=\"2\"/></graph>",
        );
        assert_eq!(mixed.unwrap().graph.edge_list(), [[0, 1], [1, 2], [2, 1]]);
    }

    #[test]
    fn every_fault_is_named() {
        let nodes = "<node id=\"0\"/><node id=\"1\"/>";
        let faults = [
            (
                format!("<graph>{nodes}<edge source=\"0\" target=\"2\"/></graph>"),
                "expected ids of nodes in the file, found \"2\"",
            ),
            (format!("<graph>{nodes}<edge source=\"0\"/></graph>"), "t.graphml:5: attribute: expected target"),
            (format!("<graph>{nodes}\n<node id=\"0\"/></graph>"), "t.graphml:6: node: expected an id of its own"),
            ("<graph><graph/></graph>".into(), "one graph, found another or a nested one"),
            (format!("<graph>{nodes}<hyperedge/></graph>"), "a hyperedge"),
            (
                format!("<graph>{nodes}<edge source=\"0\" target=\"1\"><data key=\"d1\">3</data></edge></graph>"),
                "--weight-column NAME",
            ),
            (
                format!("<graph>{nodes}<edge source=\"0\" target=\"1\"><data key=\"d0\">-3</data></edge></graph>"),
                "edge 0 has weight -3",
            ),
            (
                format!(
                    "<graph>{nodes}<edge source=\"0\" target=\"1\"><data key=\"d0\">3</data></edge><edge source=\"1\" target=\"0\"/></graph>"
                ),
                "none for edge 1",
            ),
            (String::new(), "expected an element graph"),
            ("<graph></grph>".into(), "XML: expected well-formed text"),
        ];
        for (body, message) in faults {
            let error = read(&body).unwrap_err().to_string();
            assert!(error.contains(message), "{body}: {error}");
        }
    }
}
