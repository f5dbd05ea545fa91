import Testing

@testable import MdocTool

/// The command line is read against what the verbs declare.
@Suite struct ArgumentTests {
  private static let name = Option("name", "TEXT", "a name", occurrence: .required)
  private static let path = Option("path", "PATH", "paths", occurrence: .repeatable)
  private static let depth = Option("depth", "N", "how deep", fallback: "3")
  private static let kind = Option("kind", "KIND", "which", choices: ["one", "two"])
  private static let quiet = Option(flag: "quiet", "say nothing")
  private static let options = [name, path, depth, kind, quiet]

  private func parse(
    _ words: String..., operand: Operand? = nil
  ) throws(Failure) -> Arguments {
    try Arguments(reading: words[...], options: Self.options, operand: operand)
  }

  private func fault(_ words: String..., operand: Operand? = nil) -> String? {
    do throws(Failure) {
      _ = try Arguments(reading: words[...], options: Self.options, operand: operand)
      return nil
    } catch {
      return error.status == .usage ? error.message : "status \(error.status)"
    }
  }

  @Test func valuesFollowASpaceOrAnEqualsSign() throws {
    let parsed = try parse("--name", "Ada", "--depth=7", "--quiet")
    #expect(parsed.value(Self.name) == "Ada")
    #expect(parsed.value(Self.depth) == "7")
    #expect(parsed.has(Self.quiet))
  }

  @Test func aValueMayHoldEqualsSignsAndBeginWithOneHyphen() throws {
    let parsed = try parse("--name=a=b", "--depth", "-1")
    #expect(parsed.value(Self.name) == "a=b")
    #expect(parsed.value(Self.depth) == "-1")
  }

  @Test func repeatableOptionsKeepTheirOrder() throws {
    #expect(try parse("--path", "b", "--name", "x", "--path=a").values(Self.path) == ["b", "a"])
  }

  @Test func defaultsStandInForWhatIsAbsent() throws {
    let parsed = try parse("--name", "x")
    #expect(parsed.value(Self.depth) == "3")
    #expect(parsed.value(Self.kind) == nil)
    #expect(parsed.values(Self.path) == [])
  }

  @Test func operandsMayFollowADoubleHyphen() throws {
    let file = Operand(placeholder: "FILE", help: "a file")
    #expect(try parse("--name", "x", "--", "--odd", operand: file).operand == "--odd")
    #expect(try parse("f", "--name", "x", operand: file).operand == "f")
    #expect(fault("--name", "x", "a", "b", operand: file) == "unexpected argument \"b\"")
    #expect(fault("--name", "x", operand: file) == "FILE is required: a file")
    #expect(fault("--name", "x", "a") == "unexpected argument \"a\"")
  }

  @Test(
    arguments: [
      (["--name"], "--name needs a value: --name TEXT"),
      (["--name", "--quiet"], "--name needs a value: --name TEXT"),
      (["--name="], "--name needs a value: --name TEXT"),
      (["--name", "a", "--name", "b"], "--name is given twice"),
      (["--quiet=yes", "--name", "a"], "--quiet takes no value"),
      (["--quiet"], "--name TEXT is required: a name"),
      (["--nmae", "x"], "there is no option --nmae; did you mean --name?"),
      (["--unrelated", "x"], "there is no option --unrelated here"),
      (["--name", "x", "--kind", "three"], "--kind must be one of one, two, not \"three\""),
    ])
  func faultsSayWhatToType(words: [String], message: String) {
    do throws(Failure) {
      _ = try Arguments(reading: words[...], options: Self.options, operand: nil)
      Issue.record("taken")
    } catch {
      #expect(error == .usage(message))
    }
  }
}
