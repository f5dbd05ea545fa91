/// The page of test mode that a person can use: what it needs beside the application itself.
struct Playground: Sendable {
  /// Test mode's own. The page acts as a relying party's backend, which on a real site never hands its key to a page.
  let apiKey: String
}
