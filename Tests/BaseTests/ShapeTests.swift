import Base
import Testing

@Suite("A form is stated once: it reads, writes and describes itself")
struct ShapeTests {
  private enum Colour: String, CaseIterable, Sendable { case red, green }

  private struct Box: Equatable, Sendable {
    var name = ""
    var isOpen = false
    var colour: Colour?
    var sizes: [Int64] = []

    static let shape = Shape.object(
      "Box", "A box.", Box.init,
      Field("name", \.name, .text(1...8), "What it is called."),
      .optional("is_open", \.isOpen, .flag, or: false, "Whether it is open."),
      .optional("colour", \.colour, .choice("Colour", "A colour."), "Its colour."),
      .optional("sizes", \.sizes, Shape.integer(1...9).list(0...2), or: [], "Its sizes."))
  }

  private func read(_ json: JSON) -> (Box?, Faults) {
    var faults = Faults()
    let box = Box.shape.read(json, "", &faults)
    return (box, faults)
  }

  @Test func whatIsWrittenIsReadAgain() {
    let box = Box(name: "a", isOpen: true, colour: .green, sizes: [1, 2])
    #expect(Box.shape.write(box) == ["name": "a", "is_open": true, "colour": "green", "sizes": [1, 2]])
    #expect(read(Box.shape.write(box)).0 == box)
    #expect(Box.shape.write(Box(name: "b")) == ["name": "b"])
  }

  @Test func nullIsReadWhereTheSchemaHasIt() {
    #expect(read(["name": "a", "is_open": .null, "colour": .null, "sizes": .null]).0 == Box(name: "a"))
    #expect(read(["name": .null]).1.all.map(\.pointer) == ["/name"])
    for member in Box.shape.schema.members {
      let schema = member.schema["$ref"].map { Schema($0) } ?? member.schema
      #expect(schema.violations(of: .null).isEmpty == (member.name != "name"), "\(member.name)")
    }
  }

  @Test func everyFaultIsNotedAtItsPlace() {
    let (box, faults) = read(["colour": "gren", "sizes": [1, 12], "nme": "a"])
    #expect(box == nil)
    #expect(faults.all.map(\.pointer) == ["/nme", "/name", "/colour", "/sizes/1"])
    #expect(faults.all[0].detail == "is unknown; did you mean `name`?")
    #expect(faults.all.map(\.isUnknownMember) == [true, false, false, false] && faults.all[0].code == nil)
    #expect(faults.all[2].detail == "must be `red` or `green`; did you mean `green`?")
  }

  /// Also in a default: its faults are at the member that it stands for.
  @Test func aFaultOfADefaultIsNotedAtItsMember() {
    let inner = Shape<Int>.form("Inner", Entry("count", .whole(1...9), "A count.")) { _, count in count }
    let outer = Shape<Int>.form("Outer", Entry("inner", inner, or: [:], "A part.")) { _, inner in inner }
    var faults = Faults()
    #expect(outer.read([:], "/outer", &faults) == nil)
    #expect(faults.all.map(\.pointer) == ["/outer/inner/count"])
  }

  @Test func faultsBeyondTheLimitStillRefuse() {
    let members = (0..<100).map { JSON.Member("unknown\($0)", 1) }
    let (box, faults) = read(.object(members))
    #expect(box == nil)
    #expect(faults.all.count == Limits.reportedFaults)
  }

  @Test func theTextsOfFurtherFaultsAreNotMade() {
    var faults = Faults()
    var made = 0
    func text() -> String {
      made += 1
      return "is wrong for the \(made)th time"
    }
    for _ in 0..<1000 { faults.add("", text()) }
    #expect(made == Limits.reportedFaults && faults.all.count == made)
  }

  @Test func aClosedSchemaSaysWhatIsRequiredAndNoDefault() {
    let schema = Box.shape.schema
    #expect(schema["required"] == ["name"])
    #expect(schema["additionalProperties"] == false)
    #expect(!schema.json.text().contains("\"default\""))
    #expect(schema.json.text().contains("Whether it is open. By default false."))
  }

  @Test func anOpenObjectLeavesOutWhatIsNotThere() {
    let shape = Shape<Box>.open(
      "Seen", "A box from afar.",
      [
        .always("name", \.name, .written(), "Its name."),
        .ifAny("colour", \.colour?.rawValue, .written(["red", "green"]), "Its colour."),
        .orNull("size", \.sizes.first, .integer(1...9), "Its first size."),
      ])
    #expect(shape.write(Box(name: "a")) == ["name": "a", "size": .null])
    #expect(shape.schema["required"] == ["name"])
    #expect(shape.schema["additionalProperties"] == nil)
    #expect(shape.schema.json.text().contains("later versions may have more"))
    #expect(shape.schema.violations(of: ["name": "a", "size": .null, "of tomorrow": 1]).isEmpty)
  }
}
