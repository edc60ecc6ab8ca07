//! Which name was perhaps meant.

/// The known name that the fewest insertions, deletions and substitutions turn `word` into; the first of several.
///
/// # Example
/// ```
/// use itergnn_graph::nearest_name;
/// assert_eq!(nearest_name("lobstre", ["er", "lobster", "line"]), Some("lobster"));
/// ```
pub fn nearest_name<N: AsRef<str>>(word: &str, known: impl IntoIterator<Item = N>) -> Option<N> {
    // A name is short; what a user pasted by mistake need not be.
    let word: String = word.chars().take(64).collect();
    known.into_iter().min_by_key(|name| strsim::levenshtein(&word, name.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_several_is_found_and_none_of_none() {
        assert_eq!(nearest_name("sitting", ["kitten", "mitten", "fitting"]), Some("fitting"));
        assert_eq!(nearest_name("x", Vec::<String>::new()), None);
        assert_eq!(nearest_name(&"path".repeat(1_000_000), ["gat", "path"]), Some("path"));
    }
}
