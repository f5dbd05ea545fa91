import Base
import Mdoc

/// Transcripts by which a wallet may have answered an Annex B request by mistake. Nothing is accepted by them.
struct AnnexBMistakes {
  private(set) var all: [AlternativeTranscript] = []

  init(
    _ challenge: borrowing OpenID4VPChallenge, clientID: String, responseURI: String, mdocNonce: String,
    names: RelyingPartyNames
  ) {
    let nonce = challenge.nonce
    let thumbprint = challenge.thumbprint
    func add(_ difference: String, clientID: String, responseURI: String) {
      all.append(
        AlternativeTranscript(
          difference,
          AnnexB.transcript(clientID: clientID, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce)))
    }
    let prefixed = "x509_san_dns:" + clientID
    for other in [prefixed] + names.clientIDs.filter({ !$0.hasSameBytes(as: clientID) && $0 != prefixed }) {
      add("the client_id \(other)", clientID: other, responseURI: responseURI)
    }
    let slashed = responseURI.hasSuffix("/") ? String(responseURI.dropLast()) : responseURI + "/"
    add("the response_uri \(slashed)", clientID: clientID, responseURI: slashed)
    for id in [clientID, prefixed] {
      let recipient = OpenID4VPRecipient.client(id: id, responseURI: responseURI)
      all.append(
        AlternativeTranscript(
          "the handover of OpenID4VP 1.0", recipient.transcript(nonce: nonce, thumbprint: thumbprint)))
    }
  }
}
