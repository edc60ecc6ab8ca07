//! Folders of the TUDataset collection.

use std::{collections::BTreeMap, fs, path::Path};

use super::{FormatError, SampleRecord, lines::Line, lines::Lines};
use crate::Attributes;

/// Reads a folder of the TUDataset collection: files `NAME_A.txt`, `NAME_graph_indicator.txt` and whichever others
/// there are.
///
/// | file | becomes |
/// |---|---|
/// | `A` | edges, one way each, as the file lists them |
/// | `graph_labels` | the target: a class, counted from 0 in the order of the labels |
/// | `graph_attributes` | the target where there are no labels |
/// | `node_labels`, `node_attributes` | node attributes: labels one-hot, then the numbers |
/// | `edge_labels`, `edge_attributes` | edge attributes, likewise |
///
/// # Errors
/// [`FormatError`] with file and line.
pub fn read_tu_dataset(folder: &Path) -> Result<Vec<SampleRecord>, FormatError> {
    let shown = folder.display().to_string();
    let entries = fs::read_dir(folder).map_err(|error| FormatError::read(&shown, &error))?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let Some(prefix) = names.iter().find_map(|name| name.strip_suffix("_A.txt")) else {
        let expected = "a TUDataset folder with a file NAME_A.txt";
        return Err(FormatError::Kind { file: shown, what: "no such folder".to_owned(), expected });
    };
    let open = |kind: &str| {
        let name = format!("{prefix}_{kind}.txt");
        names.contains(&name).then(|| Lines::open(&folder.join(name))).transpose()
    };
    let Some(indicator) = open("graph_indicator")? else {
        let expected = "a file NAME_graph_indicator.txt beside NAME_A.txt";
        return Err(FormatError::Kind { file: shown, what: "an incomplete TUDataset folder".to_owned(), expected });
    };
    let graph_of_node = read_indicator(indicator)?;
    let graphs = graph_of_node.last().map_or(0, |&graph| graph as usize + 1);
    let (mut records, first_node) = start_records(&graph_of_node, graphs);
    let mut graph_of_edge = Vec::new();
    if let Some(mut lines) = open("A")? {
        while let Some(line) = lines.next_filled()? {
            let mut fields = line.text.split(',').map(str::trim);
            let mut end = |what| {
                let field = fields.next();
                let id = line.unsigned(what, field)?;
                let inside = (1..=graph_of_node.len() as u64).contains(&id);
                let expected = format!("a node from 1 to {}", graph_of_node.len());
                if inside { Ok((id - 1) as usize) } else { Err(line.error(what, expected, field)) }
            };
            let (sender, receiver) = (end("sender")?, end("receiver")?);
            line.ends("edge", fields.next())?;
            let graph = graph_of_node[sender];
            if graph_of_node[receiver] != graph {
                return Err(line.error("edge", "both ends in one graph", Some(line.text)));
            }
            let first = first_node[graph as usize];
            records[graph as usize].edges.push([(sender - first) as u32, (receiver - first) as u32]);
            graph_of_edge.push(graph);
        }
    }
    let node_rows = table(open("node_labels")?, open("node_attributes")?, graph_of_node.len())?;
    let edge_rows = table(open("edge_labels")?, open("edge_attributes")?, graph_of_edge.len())?;
    distribute(&node_rows, &graph_of_node, &mut records, |record| &mut record.node_attributes);
    distribute(&edge_rows, &graph_of_edge, &mut records, |record| &mut record.edge_attributes);
    let labels = open("graph_labels")?.map(|lines| read_labels(lines, graphs)).transpose()?;
    match labels {
        Some((classes, _)) => {
            for (record, class) in records.iter_mut().zip(classes) {
                record.target = vec![class as f32];
                record.fields.insert("class".to_owned(), class.into());
            }
        }
        None => {
            let rows = table(None, open("graph_attributes")?, graphs)?;
            records.iter_mut().zip(rows.rows()).for_each(|(record, row)| record.target = row.to_vec());
        }
    }
    Ok(records)
}

/// The graph of each node, counted from 0.
fn read_indicator(mut lines: Lines<super::Source>) -> Result<Vec<u32>, FormatError> {
    let mut graphs: Vec<u32> = Vec::new();
    while let Some(line) = lines.next_filled()? {
        let graph = line.unsigned("graph", Some(line.text))?;
        let last = graphs.last().map_or(0, |&last| u64::from(last) + 1);
        // Every graph has a node, so numbers rise by one at most: this also bounds the number of graphs.
        if graph != last && graph != last + 1 || graph == 0 {
            return Err(line.error("graph", format!("{last} or {}", last + 1), Some(line.text)));
        }
        graphs.push((graph - 1) as u32);
    }
    match graphs.is_empty() {
        true => Err(lines.end("graph", "the graph of the first node")),
        false => Ok(graphs),
    }
}

/// Records without edges, and the first node of each.
fn start_records(graph_of_node: &[u32], graphs: usize) -> (Vec<SampleRecord>, Vec<usize>) {
    let mut records = vec![SampleRecord::default(); graphs];
    let mut first = vec![usize::MAX; graphs];
    for (node, &graph) in graph_of_node.iter().enumerate() {
        let record = &mut records[graph as usize];
        record.nodes = Some(record.nodes.unwrap_or(0) + 1);
        first[graph as usize] = first[graph as usize].min(node);
    }
    (records, first)
}

/// Labels as classes from 0 in the order of the labels, and how many classes there are.
fn read_labels(mut lines: Lines<super::Source>, expected: usize) -> Result<(Vec<usize>, usize), FormatError> {
    let mut labels = Vec::new();
    while let Some(line) = lines.next_filled()? {
        // Some sets have several labels; the first counts.
        labels.push(line.integer("label", line.text.split(',').next().map(str::trim))?);
    }
    if labels.len() != expected {
        return Err(lines.position().error("labels", expected, labels.len()));
    }
    let mut classes: BTreeMap<i64, usize> = labels.iter().map(|&label| (label, 0)).collect();
    classes.values_mut().enumerate().for_each(|(class, place)| *place = class);
    Ok((labels.iter().map(|label| classes[label]).collect(), classes.len()))
}

/// One-hot labels and numbers, side by side; as many rows as expected, or none where neither file is there.
fn table(
    labels: Option<Lines<super::Source>>,
    numbers: Option<Lines<super::Source>>,
    expected: usize,
) -> Result<Attributes, FormatError> {
    /// Most columns that labels may become: more are numbers in disguise.
    const CLASS_LIMIT: usize = 1 << 12;
    let file = labels.as_ref().map_or_else(String::new, |lines| lines.file().to_owned());
    let labels = labels.map(|lines| read_labels(lines, expected)).transpose()?;
    let classes = labels.as_ref().map_or(0, |labels| labels.1);
    if classes > CLASS_LIMIT {
        let expected = "at most 4096 different labels";
        return Err(FormatError::Kind { file, what: format!("{classes} different labels"), expected });
    }
    let mut values = Vec::new();
    let mut width = 0;
    if let Some(mut lines) = numbers {
        let mut rows = 0;
        while let Some(line) = lines.next_filled()? {
            let found = read_numbers(&line, &mut values)?;
            if rows > 0 && found != width {
                return Err(line.position.error("numbers", format!("{width} as in the first row"), found));
            }
            (rows, width) = (rows + 1, found);
        }
        if rows != expected {
            return Err(lines.position().error("rows", expected, rows));
        }
    }
    let Some((labels, _)) = labels else { return Ok(Attributes::new(width, values)) };
    let mut joined = Vec::with_capacity(labels.len() * (classes + width));
    for (row, &class) in labels.iter().enumerate() {
        joined.extend((0..classes).map(|place| f32::from(u8::from(place == class))));
        joined.extend_from_slice(&values[row * width..(row + 1) * width]);
    }
    Ok(Attributes::new(classes + width, joined))
}

fn read_numbers(line: &Line<'_>, values: &mut Vec<f32>) -> Result<usize, FormatError> {
    let before = values.len();
    for field in line.text.split(',').map(str::trim) {
        let value = line.finite("number", Some(field))? as f32;
        if !value.is_finite() {
            return Err(line.error("number", "one that fits f32", Some(field)));
        }
        values.push(value);
    }
    Ok(values.len() - before)
}

/// Gives every record its rows.
fn distribute(
    rows: &Attributes,
    graph_of: &[u32],
    records: &mut [SampleRecord],
    place: fn(&mut SampleRecord) -> &mut Attributes,
) {
    if rows.width() == 0 {
        return;
    }
    let mut values = vec![Vec::new(); records.len()];
    for (row, &graph) in rows.rows().zip(graph_of) {
        values[graph as usize].extend_from_slice(row);
    }
    for (record, values) in records.iter_mut().zip(values) {
        let width = if values.is_empty() { 0 } else { rows.width() };
        *place(record) = Attributes::new(width, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Vec<SampleRecord>, FormatError> {
        let folder = tempfile::tempdir().unwrap();
        for (kind, text) in files {
            fs::write(folder.path().join(format!("TOY_{kind}.txt")), text).unwrap();
        }
        read_tu_dataset(folder.path())
    }

    const GRAPHS: (&str, &str) = ("graph_indicator", "1\n1\n2\n2\n2\n");

    #[test]
    fn graphs_have_labels_one_hot_and_numbers_beside_them() {
        let records = read(&[
            ("A", "1, 2\n2, 1\n3, 5\n"),
            GRAPHS,
            ("graph_labels", "1\n-1\n"),
            ("node_labels", "7\n3\n3\n3\n7\n"),
            ("node_attributes", "0.5\n1\n2\n3\n4\n"),
            ("edge_attributes", "1,2\n3,4\n5,6\n"),
        ]);
        let records = records.unwrap();
        assert_eq!((records[0].target.clone(), records[1].target.clone()), (vec![1.0], vec![0.0]));
        assert_eq!((records[1].edges.clone(), records[1].nodes), (vec![[0, 2]], Some(3)));
        assert_eq!(records[0].node_attributes.values(), [0.0, 1.0, 0.5, 1.0, 0.0, 1.0]);
        assert_eq!(records[1].edge_attributes.values(), [5.0, 6.0]);
        assert!(records.iter().all(|record| record.graph().is_ok()));
    }

    #[test]
    fn every_fault_is_named() {
        let faults: [(&[(&str, &str)], &str); 7] = [
            (&[], "expected a TUDataset folder with a file NAME_A.txt"),
            (&[("A", "1,2\n")], "NAME_graph_indicator.txt"),
            (&[("A", "1,9\n"), GRAPHS], "TOY_A.txt:1: receiver: expected a node from 1 to 5, found \"9\""),
            (&[("A", "1,3\n"), GRAPHS], "TOY_A.txt:1: edge: expected both ends in one graph"),
            (&[("A", "1,2\n"), ("graph_indicator", "1\n3\n")], "TOY_graph_indicator.txt:2: graph: expected 1 or 2"),
            (&[("A", "1,2\n"), GRAPHS, ("graph_labels", "1\n")], "TOY_graph_labels.txt:1: labels: expected 2, found 1"),
            (
                &[("A", "1,2\n"), GRAPHS, ("node_attributes", "1\n1,2\n")],
                "TOY_node_attributes.txt:2: numbers: expected 1",
            ),
        ];
        for (files, message) in faults {
            let error = read(files).unwrap_err().to_string();
            assert!(error.contains(message), "{files:?}: {error}");
        }
    }
}
