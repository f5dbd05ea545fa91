import Base
import CBOR
import Mdoc
import Vectors

/// `mdoc vectors show`: takes one case apart.
enum VectorsShow {
  static let command = Command(
    "show", "take a case apart: what is wrong and where, what must be said, what is said",
    options: [.suite, .circuits, .all, .showValues, .json],
    operand: Operand(placeholder: "ID", help: "a case, or the id that a harness was asked under"),
    notes: [
      "The case is compared with the right one that differs least; where there is none, the answer is shown decoded. "
        + "Signatures differ wherever something signed does. All values and persons are made up.",
      "Exit status: 0 shown, 64 usage or no such case, 65 the suite cannot be read.",
    ],
    examples: [
      .init("What is wrong in a case", "mdoc vectors show element-twice"),
      .init("The decoded answer and every check, too", "mdoc vectors show element-twice --all"),
      .init("What a harness's log calls 02d1c2a1f0b34c55", "mdoc vectors show 02d1c2a1f0b34c55"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let suite = try VectorsCommand.suite(arguments)
    let entry = try VectorsCommand.entry(arguments.operands[0], in: suite)
    let shown = await ShownCase(
      entry, in: suite, circuits: try CircuitFiles.library(arguments.value(.circuits)),
      showsValues: arguments.has(.showValues))
    if arguments.has(.json) {
      console.print(shown.json)
    } else {
      let style = Style(isColored: console.isColored)
      console.print(shown.text(width: console.width, style: style, isInFull: arguments.has(.all)))
    }
    return .done
  }
}

extension VectorsCommand {
  static func entry(_ id: String, in suite: VectorSuite) throws(Failure) -> VectorSuite.Entry {
    if let entry = suite.entry(id) { return entry }
    let near = Spelling.near(id, among: suite.entries.map(\.vector.id))
    let hint = near.isEmpty ? "; mdoc vectors list shows them" : "; did you mean \(near.joined(separator: ", "))?"
    throw .usage("there is no case \(id)" + hint)
  }
}

extension Option {
  fileprivate static let all = Option(
    flag: "all", "show the decoded answer and every check too")
}
