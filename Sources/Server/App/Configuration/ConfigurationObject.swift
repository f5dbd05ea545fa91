import Base

/// One object of the configuration file. It knows its place, so that every complaint names file and member.
struct ConfigurationReader {
  let file: ConfigurationFile
  /// A JSON pointer (RFC 6901); empty for the whole file.
  let pointer: String
  private let members: [JSON.Member]

  /// Refuses what is no object or has a member twice; notes each member beyond `known`.
  init(_ json: JSON, at pointer: String, in file: ConfigurationFile, known: [String]) throws(StartError) {
    self.file = file
    self.pointer = pointer
    guard let members = json.object else { throw file.fault(pointer, "must be an object") }
    self.members = members
    for member in members where !known.contains(member.name) {
      let detail = "is not known; known here: \(known.joined(separator: ", "))"
      file.problems.note(ConfigurationProblem(pointer: "\(pointer)/\(member.name)", detail: detail))
    }
  }

  /// The member, with absent and null alike.
  func value(_ name: String) -> JSON? {
    members.first { $0.name == name }.flatMap { $0.value.isNull ? nil : $0.value }
  }

  /// The body's value; or nil, with what is wrong noted, so that the rest can be read as well.
  func attempt<R>(_ body: () throws(StartError) -> R) -> R? { file.problems.attempt(body) }

  func fault(_ name: String, _ problem: String) -> StartError { file.fault("\(pointer)/\(name)", problem) }

  func required(_ name: String) throws(StartError) -> JSON {
    guard let value = value(name) else { throw fault(name, "is required") }
    return value
  }

  func string(_ name: String) throws(StartError) -> String {
    guard let text = try required(name).string, (1...4096).contains(text.utf8.count) else {
      throw fault(name, "must be a text that is not empty")
    }
    return text
  }

  func bool(_ name: String, default fallback: Bool) throws(StartError) -> Bool {
    guard let value = value(name) else { return fallback }
    guard let flag = value.bool else { throw fault(name, "must be true or false") }
    return flag
  }

  func integer(_ name: String, in range: ClosedRange<Int64>, default fallback: Int64) throws(StartError) -> Int64 {
    guard let value = value(name) else { return fallback }
    guard let number = value.integer, range.contains(number) else {
      throw fault(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A list of texts; `[]` where it is absent and may be.
  func strings(_ name: String, isRequired: Bool) throws(StartError) -> [String] {
    if !isRequired, value(name) == nil { return [] }
    guard let list = try required(name).array, !isRequired || !list.isEmpty else {
      throw fault(name, "must be a list of texts" + (isRequired ? " with at least one" : ""))
    }
    var texts: [String] = []
    for (index, element) in list.enumerated() {
      guard let text = element.string, !text.isEmpty else { throw fault("\(name)/\(index)", "must be a text") }
      texts.append(text)
    }
    return texts
  }

  /// A list of objects, without those elements that are none, which are noted.
  func objects(
    _ name: String, isRequired: Bool, known: [String]
  ) throws(StartError) -> [ConfigurationReader] {
    if !isRequired, value(name) == nil { return [] }
    guard let list = try required(name).array, !isRequired || !list.isEmpty else {
      throw fault(name, "must be a list of objects" + (isRequired ? " with at least one" : ""))
    }
    return list.enumerated().compactMap { index, element in
      attempt { () throws(StartError) in
        try ConfigurationReader(element, at: "\(pointer)/\(name)/\(index)", in: file, known: known)
      }
    }
  }

  func object(_ name: String, known: [String]) throws(StartError) -> ConfigurationReader? {
    guard let value = value(name) else { return nil }
    return try ConfigurationReader(value, at: "\(pointer)/\(name)", in: file, known: known)
  }
}
