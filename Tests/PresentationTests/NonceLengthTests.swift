import Presentation
import Testing

/// Apple accepts nonces of up to 64 bytes (row A17); fewer than 16 bytes can be guessed.
@Suite struct NonceLengthTests {
  @Test(arguments: [0, 15, 65, 1_000]) func otherLengthsAreNoChallenge(count: Int) {
    #expect(throws: AppleChallengeError.nonceLength) {
      _ = try AppleChallenge(
        nonce: [UInt8](repeating: 1, count: count), merchantID: "merchant.example.shop", teamID: "ABCDE12345")
    }
  }

  @Test(arguments: [16, 32, 64]) func theseLengthsAre(count: Int) throws {
    let challenge = try AppleChallenge(
      nonce: [UInt8](repeating: 1, count: count), merchantID: "merchant.example.shop", teamID: "ABCDE12345")
    #expect(challenge.nonce.count == count)
  }
}
