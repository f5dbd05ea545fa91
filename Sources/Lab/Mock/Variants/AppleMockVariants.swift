import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Answers in the shape of Apple's own mocks: the simulator's and the developer profile's.
  @MockVariantList static var appleMocks: [MockVariant] {
    MockVariant(
      "apple-simulator", "As from Apple's simulator, encrypted to this session's key: no x5chain, zero signatures.",
      cases: "A14", codes: [.appleSimulatorAnswer], applicability: .appleInApp, simulated)
    MockVariant(
      "apple-simulator-key",
      "As from Apple's simulator: its published key and team, no x5chain, zero signatures.",
      cases: "A14", codes: [.appleSimulatorAnswer], applicability: .appleInApp,
      {
        var mutation = simulated
        mutation.session = usePublishedKey
        return mutation
      }())
    MockVariant(
      "apple-simulator-key-signed", "A wholly signed answer, encrypted to the simulator's published key.",
      cases: "A15", codes: [.appleSimulatorAnswer], applicability: .appleInApp, .init(session: usePublishedKey))
    MockVariant(
      "apple-profile",
      "As from a device with Apple's developer profile: no x5chain, zero issuer signature, real device signature.",
      cases: "A14", codes: [.appleProfileAnswer], applicability: .appleInApp,
      .init(
        issuerAuth: { $0.unprotected[33] = nil },
        issuerAuthParts: { $0.signature = .zeros($0.signature.count) }))
    MockVariant(
      "apple-profile-empty-signature",
      "As from a device with Apple's developer profile, the issuer signature empty.",
      cases: "A14", codes: [.appleProfileAnswer], applicability: .appleInApp,
      .init(issuerAuth: { $0.unprotected[33] = nil }, issuerAuthParts: { $0.signature = [] }))
  }

  private static var simulated: MockMutation {
    .init(
      issuerAuth: { $0.unprotected[33] = nil },
      issuerAuthParts: { $0.signature = .zeros($0.signature.count) },
      deviceSignatureParts: { $0.signature = .zeros($0.signature.count) })
  }

  @Sendable private static func usePublishedKey(_ draft: inout AppleEnvelopeDraft) throws {
    draft.recipientKey = try PublicKey(curve: .p256, encoded: Hex.decode(AppleSimulator.recipientPoint) ?? [])
    draft.teamID = AppleSimulator.teamID
  }
}
