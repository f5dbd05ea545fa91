enum CompletionCommand {
  static let command = Command(
    "completion", "print a shell script that completes mdoc's verbs and options", options: [],
    operand: Operand(placeholder: "SHELL", help: "the shell", choices: ["bash", "zsh", "fish"]),
    examples: [
      .init("Use it in this bash", "source <(mdoc completion bash)"),
      .init("Install it for zsh", "mdoc completion zsh > \"${fpath[1]}/_mdoc\""),
      .init("Install it for fish", "mdoc completion fish > ~/.config/fish/completions/mdoc.fish"),
    ], work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    switch arguments.operand {
    case "bash": arguments.console.print(BashCompletion.script)
    case "zsh": arguments.console.print(ZshCompletion.script)
    default: arguments.console.print(FishCompletion.script)
    }
  }
}

/// The words that may follow this path of verbs.
private struct CompletionLevel {
  /// The path of verbs without the program's name; empty at the top level.
  let path: String
  let command: Command

  static var all: [CompletionLevel] { below(Program.root, "") }

  private static func below(_ command: Command, _ path: String) -> [CompletionLevel] {
    [CompletionLevel(path: path, command: command)]
      + command.verbs.flatMap { below($0, path.isEmpty ? $0.name : "\(path) \($0.name)") }
  }

  var options: [Option] { command.options + [.help] }

  /// The verbs, or the allowed values of the operand; empty if the operand may have any value.
  var words: [String] { command.verbs.map(\.name) + (command.operand?.choices ?? []) }

  /// True if the operand may be a file name, since its values are not restricted.
  var takesFiles: Bool { command.operand.map(\.choices.isEmpty) ?? false }
}

extension String {
  /// The text as one bash or zsh word, in single quotes.
  fileprivate var quotedForShell: String { "'" + replacing("'", with: "'\\''") + "'" }
}

private enum BashCompletion {
  static var script: String {
    let levels = CompletionLevel.all
    let options = levels.map { level in
      "    \(level.path.quotedForShell)) options=\(names(level.options).quotedForShell)"
        + " words=\(level.words.joined(separator: " ").quotedForShell)\(level.takesFiles ? " files=1" : "") ;;"
    }
    let verbs = levels.filter { !$0.path.isEmpty }.map { "        \($0.path.quotedForShell)) path=$next ;;" }
    let values = levels.flatMap { level in
      level.options.compactMap { option in
        option.placeholder.map { _ in
          "    \("\(level.path) --\(option.name)".quotedForShell)) "
            + (option.choices.isEmpty ? "files=1" : "words=\(option.choices.joined(separator: " ").quotedForShell)")
            + " value=1 ;;"
        }
      }
    }
    return """
      # bash completion of mdoc; made by: mdoc completion bash
      _mdoc() {
        local path= next word options= words= files= value= index
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        # bash splits --name=VALUE at the equals sign.
        if [[ $current == '=' ]]; then
          current=
        elif [[ $previous == '=' ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        for ((index = 1; index < COMP_CWORD; index++)); do
          word=${COMP_WORDS[index]}
          next=${path:+$path }$word
          case $next in
      \(verbs.joined(separator: "\n"))
          esac
        done
        case "$path $previous" in
      \(values.joined(separator: "\n"))
        esac
        if [[ -z $value ]]; then
          case $path in
      \(options.joined(separator: "\n"))
          esac
          if [[ $current == -* ]]; then words=$options files=; fi
        fi
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        if [[ -n $files ]]; then
          compopt -o filenames 2>/dev/null
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
        fi
      }
      complete -F _mdoc mdoc
      """
  }

  private static func names(_ options: [Option]) -> String { options.map { "--\($0.name)" }.joined(separator: " ") }
}

private enum ZshCompletion {
  static var script: String {
    let cases = CompletionLevel.all.map { level in
      let rows = level.command.verbs.isEmpty ? arguments(level) : verbs(level)
      return "    \(level.path.quotedForShell))\n\(rows)\n      ;;"
    }
    let paths = CompletionLevel.all.map(\.path).filter { !$0.isEmpty }.map(\.quotedForShell)
    return """
      #compdef mdoc
      # zsh completion of mdoc; made by: mdoc completion zsh
      _mdoc() {
        local path_of_verbs= next
        local -a verbs_of_mdoc=(\(paths.joined(separator: " ")))
        local -a verbs
        while ((CURRENT > 2)); do
          next=${path_of_verbs:+$path_of_verbs }${words[2]}
          (($verbs_of_mdoc[(Ie)$next])) || break
          path_of_verbs=$next
          shift words
          ((CURRENT--))
        done
        case $path_of_verbs in
      \(cases.joined(separator: "\n"))
        esac
      }
      if [[ $funcstack[1] == _mdoc ]]; then _mdoc "$@"; else compdef _mdoc mdoc; fi
      """
  }

  private static func verbs(_ level: CompletionLevel) -> String {
    let rows = level.command.verbs.map { "\($0.name):\($0.summary.replacing(":", with: "\\:"))".quotedForShell }
    return "      verbs=(\(rows.joined(separator: " ")))\n      _describe verb verbs"
  }

  private static func arguments(_ level: CompletionLevel) -> String {
    var rows = level.options.map { option in
      let several = option.isRepeatable ? "*" : ""
      let value = option.placeholder.map { ":\(escaped($0)):\(values(option.choices))" } ?? ""
      return "\(several)--\(option.name)\(option.placeholder == nil ? "" : "=")[\(escaped(option.help))]\(value)"
    }
    if let operand = level.command.operand {
      let position = operand.isRepeatable ? "*" : operand.isOptional ? "1:" : "1"
      rows.append("\(position):\(escaped(operand.placeholder)):\(values(operand.choices))")
    }
    return "      _arguments \\\n" + rows.map { "        " + $0.quotedForShell }.joined(separator: " \\\n")
  }

  private static func values(_ choices: [String]) -> String {
    choices.isEmpty ? "_files" : "(\(choices.joined(separator: " ")))"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing(":", with: "\\:").replacing("[", with: "\\[")
      .replacing("]", with: "\\]")
  }
}

private enum FishCompletion {
  static var script: String {
    let levels = CompletionLevel.all
    let paths = levels.map(\.path).filter { !$0.isEmpty }.map(\.quotedForShell)
    return """
      # fish completion of mdoc; made by: mdoc completion fish
      function __mdoc_path
        set -l path
        for word in (commandline -opc)[2..]
          set -l next (string join -- ' ' $path $word)
          contains -- "$next" \(paths.joined(separator: " ")); or break
          set path $path $word
        end
        string join -- ' ' $path
      end
      function __mdoc_at
        set -l path (__mdoc_path)
        test "$path" = "$argv[1]"
      end
      complete -c mdoc -f
      \(levels.flatMap(rows).joined(separator: "\n"))
      """
  }

  private static func rows(_ level: CompletionLevel) -> [String] {
    let start = "complete -c mdoc -n \("__mdoc_at \(level.path.quotedForFish)".quotedForFish)"
    let verbs = level.command.verbs.map { "\(start) -a \($0.name) -d \($0.summary.quotedForFish)" }
    let options = level.options.map { option in
      let value = option.placeholder.map { _ in
        option.choices.isEmpty ? " -r -F" : " -x -a \(option.choices.joined(separator: " ").quotedForFish)"
      }
      return "\(start) -l \(option.name)\(value ?? "") -d \(option.help.quotedForFish)"
    }
    let words = level.command.operand.map { operand in
      operand.choices.isEmpty ? "\(start) -F" : "\(start) -a \(operand.choices.joined(separator: " ").quotedForFish)"
    }
    return verbs + options + (words.map { [$0] } ?? [])
  }
}

extension String {
  /// The text as one fish word, in single quotes.
  fileprivate var quotedForFish: String { "'" + replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'" }
}
