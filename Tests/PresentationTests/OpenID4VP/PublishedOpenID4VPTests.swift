import Base
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// The examples of OpenID4VP 1.0, and another verifier's answer, as far as they say what we must write and read.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedOpenID4VPTests {
  /// What we ask for is what the example asks for, apart from its ids and what it leaves to the wallet.
  @Test func ourQueryIsThatOfTheExample() throws {
    let example = try json("openid4vp-1.0/examples/query_lang/simple_mdoc.json")
    let credential = try #require(example["credentials"]?.array?.first)
    let paths = try #require(credential["claims"]?.array).compactMap { $0["path"]?.array?.compactMap(\.string) }
    let request = PresentationRequest(documents: [
      DocumentRequest(
        docType: try #require(credential["meta"]?["doctype_value"]?.string),
        elements: paths.map { ElementRequest(ElementReference($0[0], $0[1])) })
    ])
    let ours = try #require(DCQLQuery(request).json["credentials"]?.array?.first)
    #expect(ours["format"] == credential["format"] && ours["meta"] == credential["meta"])
    #expect(
      ours["claims"]?.array?.compactMap { $0["path"] } == credential["claims"]?.array?.compactMap { $0["path"] })
    #expect(Set(ours.object?.map(\.name) ?? []) == Set(credential.object?.map(\.name) ?? []))
  }

  /// Our members stand where the example's stand; it has `expected_origins` and a client identifier when it is signed.
  @Test func ourMetadataHasTheMembersOfTheExample() throws {
    let example = try json("openid4vp-1.0/examples/client_metadata/mso_mdoc_verifier_metadata.json")
    let fixture = try OpenID4VPFixture()
    let ours = OpenID4VPRequest(fixture.request, challenge: fixture.challenge()).unsigned["client_metadata"]
    let theirs = try #require(example["vp_formats_supported"]?["mso_mdoc"])
    let formats = try #require(ours?["vp_formats_supported"]?["mso_mdoc"])
    #expect(Set(formats.object?.map(\.name) ?? []) == Set(theirs.object?.map(\.name) ?? []))
  }

  @Test func theErrorOfTheExampleHasItsCode() throws {
    let example = try json("openid4vp-1.0/examples/digital_credentials_api/error_invalid_request.json")
    #expect(Code(walletError: try #require(example["error"]?.string)) == .walletInvalidRequest)
  }

  /// An answer to somebody else's request: of the right shape, for a query that we did not make.
  @Test func aForeignAnswerIsReadAndIsForNoQueryOfOurs() throws {
    let answer = try json("iso18013-7-annexC/vck-signed-response.json")
    #expect(answer["protocol"] == "openid4vp-v1-signed")
    let data = try #require(answer["data"])
    let fixture = try OpenID4VPFixture()
    #expect(fixture.verify(data).codes == [.envelopeNotEncrypted])
    #expect(fixture.verify(data, isEncrypted: false).codes == [.vpTokenMalformed])
    // Under our query's name it is a DeviceResponse like any other, signed for another session by another issuer.
    let presentations = try #require(data["vp_token"]?.object?.first?.value)
    let renamed: JSON = ["vp_token": ["document_0": presentations]]
    let codes = fixture.verify(renamed, isEncrypted: false).codes
    #expect(codes.contains(.issuerUnknown) && codes.contains(.deviceSignatureInvalid))
  }

  private func json(_ path: String) throws -> JSON { try JSON(parsing: PublishedVectors.bytes(path)) }
}
