import Base
import Sessions
import Testing

@Suite struct HTTPStatusTests {
  @Test(arguments: Code.allCases)
  func `what the API refuses has a status of its own, a verdict has 200`(code: Code) {
    let isRefusal = code.rawValue.hasPrefix("api.")
    #expect(
      isRefusal ? (400...599).contains(code.httpStatus) : [200, 400, 403, 404, 409, 410, 503].contains(code.httpStatus))
  }

  /// A warning is a finding about a document; a request that fails as such is never one.
  @Test func `a warning is never a failed request`() {
    #expect(Code.allCases.filter { $0.entry.isWarning && $0.httpStatus != 200 } == [])
  }
}
