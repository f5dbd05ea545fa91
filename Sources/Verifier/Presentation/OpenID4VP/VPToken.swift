import Base
import Mdoc

/// `vp_token` (OpenID4VP 1.0, 8.1): for each query that is answered an array of presentations, here of one
/// DeviceResponse in base64url (B.2).
struct VPToken {
  /// One for each document of the request that was answered, in the request's order.
  let parts: [PresentedResponse.Part]

  /// Notes each check; nil where one failed.
  init?(_ json: JSON?, answering request: PresentationRequest, checks: inout CheckList) {
    guard let presentations = Self.presentations(json, request) else {
      checks.failed(.vpTokenMalformed)
      return nil
    }
    checks.passed(.vpTokenMalformed)
    let needed = request.requiresAllDocuments ? request.documents.count : 1
    checks.require(presentations.count >= needed, .vpTokenIncomplete)
    guard presentations.count >= needed else { return nil }
    // Of documents that exclude one another one is enough, and more than was asked for.
    if !request.requiresAllDocuments, presentations.count > 1 {
      checks.failed(.documentUnexpected, "\(presentations.count) documents")
    }
    var parts: [PresentedResponse.Part] = []
    for (docType, bytes) in presentations {
      do throws(MdocParseError) {
        parts.append(PresentedResponse.Part(try DeviceResponse(parsing: bytes), docType: docType))
      } catch {
        checks.append([error.check])
        return nil
      }
    }
    self.parts = parts
  }

  /// Nil where an id is none of the request's, or what stands under it is not one base64url text in an array.
  private static func presentations(
    _ json: JSON?, _ request: PresentationRequest
  ) -> [(docType: String, bytes: [UInt8])]? {
    guard let members = json?.object else { return nil }
    var found: [(docType: String, bytes: [UInt8])] = []
    for (index, document) in request.documents.enumerated() {
      guard let value = json?[DCQLQuery.credentialID(index)] else { continue }
      guard let elements = value.array, elements.count == 1,
        let bytes = elements[0].string.flatMap(Base64.decodeURLSafe), !bytes.isEmpty
      else { return nil }
      found.append((document.docType, bytes))
    }
    // Names occur once in our JSON, so that all are known when as many were found.
    return found.count == members.count ? found : nil
  }
}
