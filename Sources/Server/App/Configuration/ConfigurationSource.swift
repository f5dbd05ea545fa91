/// Where a server's configuration came from, and what a new reading of it needs of the one before.
struct ConfigurationSource: Sendable {
  let path: String
  let environment: EnvironmentSecrets
  let network: ServerNetwork
}
