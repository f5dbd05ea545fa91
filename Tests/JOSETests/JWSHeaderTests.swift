import Base
import Testing

@testable import JOSE

/// A header that two readers could read in two ways is refused.
@Suite struct JWSHeaderTests {
  @Test(arguments: [
    "", "[]", "null", "\"alg\"", "{}", #"{"alg":1}"#, #"{"alg":null}"#, #"{"ALG":"ES256"}"#, #"{"alg":"ES256"}x"#,
    #"{"alg":"none","alg":"ES256"}"#, #"{"alg":"ES256","\u0061lg":"none"}"#, #"{"alg":"ES256","a":{"b":1,"b":2}}"#,
    #"{"alg":"ES256","typ":1}"#, #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","iat":"1"}"#,
    #"{"alg":"ES256","iat":1.5}"#, #"{"alg":"ES256","x5c":"MAA="}"#, #"{"alg":"ES256","x5c":[]}"#,
    #"{"alg":"ES256","x5c":[1]}"#, #"{"alg":"ES256","x5c":[""]}"#, #"{"alg":"ES256","x5c":["MAA"]}"#,
    #"{"alg":"ES256","x5c":["MA A="]}"#, #"{"alg":"ES256","x5c":["__8="]}"#,
    #"{"alg":"ES256","crit":[]}"#, #"{"alg":"ES256","crit":"a","a":1}"#, #"{"alg":"ES256","crit":["a"]}"#,
    #"{"alg":"ES256","crit":["a","a"],"a":1}"#, #"{"alg":"ES256","crit":[1],"1":1}"#, #"{"alg":"ES256","crit":null}"#,
  ])
  func isRefusedWhereItIsAmbiguousOrOfAnotherType(text: String) {
    #expect(throws: JOSEError.invalidHeader) { try JWSHeader(parsing: Array(text.utf8), understanding: ["a"]) }
  }

  @Test func namesAsCriticalOnlyWhatTheCallerProcesses() throws {
    let bytes = Array(#"{"alg":"ES256","crit":["sigT"],"sigT":"2026-01-01T00:00:00Z"}"#.utf8)
    #expect(throws: JOSEError.unsupportedCritical) { try JWSHeader(parsing: bytes, understanding: []) }
    #expect(throws: JOSEError.unsupportedCritical) { try JWSHeader(parsing: bytes, understanding: ["sigD"]) }
    #expect(try JWSHeader(parsing: bytes, understanding: ["sigT"]).critical == ["sigT"])
  }

  /// Even if a caller would accept it. For such a caller, the header may state that the payload is encoded (RFC 7797,
  /// 3).
  @Test(arguments: ["true", "false", "1"])
  func unencodedPayloadsAreRefused(value: String) throws {
    for text in [#"{"alg":"ES256","b64":\#(value)}"#, #"{"alg":"ES256","b64":\#(value),"crit":["b64"]}"#] {
      for understood: Set<String> in [[], ["b64"]] {
        guard value == "true", !understood.isEmpty else {
          #expect(throws: JOSEError.unsupportedCritical) {
            try JWSHeader(parsing: Array(text.utf8), understanding: understood)
          }
          continue
        }
        _ = try JWSHeader(parsing: Array(text.utf8), understanding: understood)
      }
    }
  }

  @Test func givesTheChainAsItStands() throws {
    let header = try JWSHeader(parsing: Array(#"{"alg":"ES256","x5c":["MAA=","//8="]}"#.utf8), understanding: [])
    #expect(header.certificateChain == [[0x30, 0x00], [0xff, 0xff]])
    #expect(header["x5c"]?.array?.count == 2 && header["absent"] == nil)
  }
}
