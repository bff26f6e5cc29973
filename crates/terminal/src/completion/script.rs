//! The scripts that make shells ask the program at each Tab.
//!
//! Input: a shell, the program's name. Output: a script. No script evaluates the program's answer: it takes
//! each line as text.

use crate::completion::shell::CompletedShell;

/// `FUNCTION` and `PROGRAM` are placeholders. bash inserts the answer unchanged.
const BASH: &str = r#"FUNCTION() {
    local line kind=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <(command PROGRAM __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    case $kind in
        open) compopt -o nospace ;;
        files) compopt -o default ;;
        directories) compopt -o dirnames ;;
    esac
}
complete -F FUNCTION PROGRAM
"#;

/// compadd quotes the text that it inserts.
const ZSH: &str = r#"#compdef PROGRAM
FUNCTION() {
    local -a lines closed closed_shown opened opened_shown
    local line text shown
    lines=("${(@f)$(command PROGRAM __complete zsh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $lines[1] in
        files|directories) compset -P '--[^=]#=' ;;
    esac
    case $lines[1] in
        files) _files; return ;;
        directories) _files -/; return ;;
    esac
    for line in "${(@)lines[2,-1]}"; do
        text=${${line#?}%%$'\t'*}
        shown=${line#*$'\t'}
        [[ -n $shown ]] && shown="$text  -- $shown" || shown=$text
        case $line in
            +*) closed+=("$text"); closed_shown+=("$shown") ;;
            -*) opened+=("$text"); opened_shown+=("$shown") ;;
        esac
    done
    (( $#closed )) && compadd -l -d closed_shown -a closed
    (( $#opened )) && compadd -l -S '' -d opened_shown -a opened
    (( $#closed + $#opened ))
}
if [[ $funcstack[1] == FUNCTION ]]; then FUNCTION "$@"; else compdef FUNCTION PROGRAM; fi
"#;

/// fish quotes the text that it inserts.
const FISH: &str = r#"function _FUNCTION
    set -l current (commandline -ct)
    set -l lines (command PROGRAM __complete fish (commandline -opc) "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
        case values
            set -q lines[2]; and printf '%s\n' $lines[2..-1]
    end
end
complete -c PROGRAM -f -a '(_FUNCTION)'
"#;

/// Returns the script that makes a shell complete a program's commands, options and values.
pub fn script(shell: CompletedShell, program: &str) -> String {
    let template = match shell {
        CompletedShell::Bash => BASH,
        CompletedShell::Zsh => ZSH,
        CompletedShell::Fish => FISH,
    };
    template.replace("FUNCTION", &format!("_{}", program.replace('-', "_"))).replace("PROGRAM", program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_call_the_program_by_its_name() {
        for shell in [CompletedShell::Bash, CompletedShell::Zsh, CompletedShell::Fish] {
            let script = script(shell, "pneu-tarantool");
            assert!(script.contains("command pneu-tarantool __complete"), "{script}");
            assert!(script.contains("_pneu_tarantool") && !script.contains("PROGRAM"), "{script}");
            assert!(!script.contains("eval"), "{script}");
        }
    }
}
