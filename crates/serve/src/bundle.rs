//! Scripts of the page put together, so that a browser asks for one and not for thirty. The build script
//! calls this.
//!
//! Input: scripts by their names, as they are written. Output: the script that begins, with all that it
//! imports at first, and for each of those a short script that takes it from there, for what is loaded later.
//! Knows no files, and of scripts only how this page writes them: imports and exports begin their lines,
//! no export changes its value, and imports make no circles.

use std::collections::BTreeMap;

/// Scripts by their names.
pub(crate) type Scripts = BTreeMap<String, String>;

/// Where a library says what it exports. It does so at its end.
const EXPORTS: &str = "export{";
/// What an export may be.
const KINDS: [&str; 4] = ["const ", "function ", "async function ", "class "];

/// Returns `entry` with all that it imports, and the scripts that stand for those now. There is none if one
/// of them is written in a way that this does not know.
pub(crate) fn bundle(scripts: &Scripts, entry: &str) -> Option<Scripts> {
    let mut parts = Parts::default();
    parts.add(scripts, entry, scripts.len())?;
    let (mut whole, mut result) = (String::new(), Scripts::new());
    for (name, part) in parts.0.iter().filter(|(name, _)| name != entry) {
        let variable = variable(name);
        let inner: Vec<String> =
            part.exports.iter().map(|(outer, inner)| format!("{outer}: {inner}")).collect();
        // What waits for a script lets those wait that come after it, as imports do.
        let begin = if part.waits { "await (async () =>" } else { "(() =>" };
        let (code, inner) = (&part.code, inner.join(", "));
        whole.push_str(&format!("const {variable} = {begin} {{\n{code}return {{ {inner} }};\n}})();\n"));
        let outer: Vec<&str> = part.exports.iter().map(|(outer, _)| outer.as_str()).collect();
        let (up, outer) = (if name.contains('/') { "../" } else { "./" }, outer.join(", "));
        let stands = format!(
            "import {{ {variable} }} from \"{up}{entry}\";\nexport const {{ {outer} }} = {variable};\n"
        );
        result.insert(name.clone(), stands);
    }
    let variables: Vec<String> = result.keys().map(|name| variable(name)).collect();
    let (_, last) = parts.0.last()?;
    whole.push_str(&format!("{}export {{ {} }};\n", last.code, variables.join(", ")));
    result.insert(entry.to_owned(), whole);
    Some(result)
}

/// Returns the page without the lines that ask for scripts that are in the one that begins.
pub(crate) fn without_preloads(index: &str, bundled: &Scripts) -> String {
    let is_bundled = |line: &&str| {
        let name =
            line.strip_prefix("<link rel=\"modulepreload\" href=\"/").and_then(|rest| rest.split('"').next());
        name.is_some_and(|name| bundled.contains_key(name))
    };
    index.split_inclusive('\n').filter(|line| !is_bundled(line)).collect()
}

/// What the script that begins is made of, in order: each after what it imports.
#[derive(Default)]
struct Parts(Vec<(String, Part)>);

/// A script as a part of another one.
#[derive(Default)]
struct Part {
    /// The names of its exports, for others and in it.
    exports: Vec<(String, String)>,
    imports: Vec<String>,
    code: String,
    /// Whether it waits for something before it is ready.
    waits: bool,
}

impl Parts {
    /// Adds a script, after all that it imports. `depth` ends circles.
    fn add(&mut self, scripts: &Scripts, name: &str, depth: usize) -> Option<()> {
        if self.0.iter().any(|(known, _)| known == name) {
            return Some(());
        }
        let depth = depth.checked_sub(1)?;
        let part = part(scripts.get(name)?)?;
        for import in &part.imports {
            self.add(scripts, import, depth)?;
        }
        self.0.push((name.to_owned(), part));
        Some(())
    }
}

/// Reads a script.
fn part(script: &str) -> Option<Part> {
    let mut part = Part::default();
    let mut lines = script.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("import ") {
            let mut statement = line.trim_end().to_owned();
            while !statement.ends_with(';') {
                statement.push_str(lines.next()?.trim());
            }
            part.import(&statement)?;
        } else if let Some(exported) = line.strip_prefix("export ") {
            let kind = KINDS.iter().find(|kind| exported.starts_with(**kind))?;
            let name = exported.strip_prefix(kind)?.split(|letter: char| !is_of_name(letter)).next()?;
            part.exports.push((name.to_owned(), name.to_owned()));
            part.code.push_str(exported);
        } else if let Some((code, exports)) = line.split_once(EXPORTS) {
            for export in exports.split_once('}')?.0.split(',') {
                let (inner, outer) = export.split_once(" as ").unwrap_or((export, export));
                part.exports.push((outer.to_owned(), inner.to_owned()));
            }
            part.code.push_str(code);
            part.code.push('\n');
        } else {
            // The first column has what is done at once.
            part.waits |= line.contains("await ") && !line.starts_with([' ', '/', '}']);
            part.code.push_str(line);
        }
    }
    Some(part)
}

impl Part {
    /// Adds an import, as what takes it from the part that has it.
    fn import(&mut self, statement: &str) -> Option<()> {
        let (what, from) = statement.strip_prefix("import ")?.strip_suffix("\";")?.split_once('"')?;
        let name = from.strip_prefix("./")?;
        let variable = variable(name);
        let what = what.strip_suffix(" from ");
        if let Some(all) = what.and_then(|what| what.strip_prefix("* as ")) {
            self.code.push_str(&format!("const {all} = {variable};\n"));
        } else if let Some(names) = what {
            self.code.push_str(&format!("const {} = {variable};\n", names.replace(" as ", ": ")));
        }
        self.imports.push(name.to_owned());
        Some(())
    }
}

/// Returns what a script is called in the one that begins.
fn variable(name: &str) -> String {
    format!("${}", name.replace(|letter| !is_of_name(letter), "_"))
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(list: &[(&str, &str)]) -> Scripts {
        list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_script_has_what_it_imports_and_the_others_take_it_from_there() {
        let all = scripts(&[
            (
                "app.js",
                "// A.\nimport * as b from \"./b.js\";\nimport {\n  c,\n  d as e,\n} from \"./lib/c.mjs\";\n\
                 b.f(c, e);\n",
            ),
            (
                "b.js",
                "import { c } from \"./lib/c.mjs\";\nimport \"./w.js\";\n\
                 export async function f() {\n  await c;\n}\nexport const g = 1;\n",
            ),
            ("lib/c.mjs", "const x=1;export{x as c,d};//# a\n"),
            ("w.js", "if (a) (await import(\"./later.js\")).go();\n"),
            ("later.js", "import { g } from \"./b.js\";\n"),
        ]);
        let bundled = bundle(&all, "app.js").unwrap();
        let expected = "const $lib_c_mjs = (() => {\nconst x=1;\nreturn { c: x, d: d };\n})();\n\
            const $w_js = await (async () => {\nif (a) (await import(\"./later.js\")).go();\n\
            return {  };\n})();\n\
            const $b_js = (() => {\nconst { c } = $lib_c_mjs;\nasync function f() {\n  await c;\n}\n\
            const g = 1;\nreturn { f: f, g: g };\n})();\n\
            // A.\nconst b = $b_js;\nconst {c,d: e,} = $lib_c_mjs;\nb.f(c, e);\n\
            export { $b_js, $lib_c_mjs, $w_js };\n";
        assert_eq!(bundled["app.js"], expected);
        assert_eq!(bundled["b.js"], "import { $b_js } from \"./app.js\";\nexport const { f, g } = $b_js;\n");
        let library = "import { $lib_c_mjs } from \"../app.js\";\nexport const { c, d } = $lib_c_mjs;\n";
        assert_eq!((bundled["lib/c.mjs"].as_str(), bundled.len()), (library, 4));
        let index =
            "<link rel=\"modulepreload\" href=\"/b.js\">\n<link rel=\"modulepreload\" href=\"/later.js\">\n";
        assert_eq!(without_preloads(index, &bundled), "<link rel=\"modulepreload\" href=\"/later.js\">\n");
    }

    #[test]
    fn what_is_written_in_another_way_is_refused() {
        for script in [
            "export default 1;\n",
            "export let a = 1;\n",
            "export { a } from \"./b.js\";\n",
            "import { a } from \"b\";\n",
            "import { a } from \"./b.js\"",
            "import { a } from \"./none.js\";\n",
            "import { a } from \"./app.js\";\n",
        ] {
            assert_eq!(bundle(&scripts(&[("app.js", script), ("b.js", "")]), "app.js"), None, "{script}");
        }
    }
}
