import Base
import CBOR

/// A table of variants, one per line. It can be read without Swift, and by programs in other languages.
///
/// - A row is `name | edits | codes | rules | sentence`. `EditParser` reads the edits. The first code is the primary
///   code. Codes after the word `warns` are warnings. The rules are rows of the project's list of negative cases.
/// - Words in parentheses after the name are options: the responses, the request and the clock of the variant. A line
///   of words in brackets gives options to the rows that follow.
/// - `<a/b/c>` repeats the row for each word. Lists of the same length advance together. Lists of different lengths
///   give all combinations, in which the longest list varies slowest.
/// - `let NAME = VALUE` names a value for the rows that follow. `#` begins a comment.
///
/// The table is part of the program. If it is malformed, the process ends with a message that states the row and the
/// column.
enum VariantTable {
  struct Row: Sendable {
    let declaration: MockDeclaration
    let options: [String]
    let mutation: MockMutation
  }

  static func rows(_ name: String, _ text: [UInt8]) -> [Row] {
    do {
      return try rows(of: String(decoding: text, as: UTF8.self))
    } catch {
      preconditionFailure("The table of variants \(name) cannot be read: \(error)")
    }
  }

  static func rows(of text: String) throws -> [Row] {
    var rows: [Row] = []
    var options: [String] = []
    var constants: [String: CBORValue] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      do throws(VariantTableError) {
        if line.isEmpty || line.hasPrefix("#") { continue }
        if line.hasPrefix("[") {
          options = words(line.dropFirst().dropLast())
        } else if line.hasPrefix("let ") {
          var parser = EditParser(line.dropFirst(4))
          let (name, value) = try parser.constant()
          constants[name] = value
        } else {
          for line in repeated(String(line)) { rows.append(try row(line, options, constants)) }
        }
      } catch {
        throw VariantTableError(row: index + 1, column: error.column, message: error.message)
      }
    }
    return rows
  }

  private static func row(
    _ line: String, _ options: [String], _ constants: [String: CBORValue]
  ) throws(VariantTableError) -> Row {
    let columns = line.split(separator: "|", omittingEmptySubsequences: false)
    guard columns.count == 5 else { throw .init(column: line.count, message: "a row has 5 columns") }
    let name = columns[0].split(separator: "(")
    var parser = EditParser(columns[1], column: columns[0].count + 1, constants: constants)
    let mutation = try parser.mutation()
    var codes: [[Code]] = [[]]
    for word in words(columns[2]) {
      if word == "warns" {
        codes.append([])
      } else {
        // The mock does not import the verifier, which declares the codes. A test finds unknown names.
        codes[codes.count - 1].append(Code(named: word))
      }
    }
    return Row(
      declaration: MockDeclaration(
        words(name[0]).joined(), columns[4].split(separator: " ").joined(separator: " "), cases: String(columns[3]),
        codes: codes[0], warnings: codes.count > 1 ? codes[1] : []),
      options: options + (name.count > 1 ? words(name[1].prefix { $0 != ")" }) : []), mutation: mutation)
  }

  private static func words(_ text: Substring) -> [String] {
    text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
  }

  private static func repeated(_ line: String) -> [String] {
    let lists = #/<([^<>|]+)>/#
    func words(_ list: Substring) -> [Substring] { list.split(separator: "/", omittingEmptySubsequences: false) }
    guard let count = line.matches(of: lists).map({ words($0.1).count }).max() else { return [line] }
    return (0..<count).flatMap { index in
      repeated(line.replacing(lists) { words($0.1).count == count ? words($0.1)[index] : $0.0 })
    }
  }
}

/// An error in a table or an edit. Rows and columns count from 1.
struct VariantTableError: Error {
  var row = 1
  let column: Int
  let message: String
}
