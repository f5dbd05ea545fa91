import Base
import Sessions

/// `/v1/config`.
enum ConfigurationRoutes {
  static let all = [reload]

  private static let reload = Route(
    method: .post, path: PathTemplate("/v1/config/reload"), name: "reloadConfiguration",
    summary: "Reads the configuration anew; where anything is wrong with it, the one before stays in force.",
    access: .apiKey([.admin]), success: .json(200, "ConfigurationLoad"), problems: [.configurationReloadFailed]
  ) { call throws(ServiceError) in
    guard let updater = call.updater, updater.canReload else {
      throw ServiceError(.configurationReloadFailed, "Test mode has no configuration file.")
    }
    let status = await updater.reload()
    guard status.isCurrent else {
      // The reasons name files of the server: they are in the log.
      throw ServiceError(
        .configurationReloadFailed,
        pointers: status.problems.map { .init(pointer: $0.pointer, detail: "The server's log says what is wrong.") })
    }
    return Answer(
      json: [
        "loaded_at": .integer(status.loadedAt.secondsSince1970),
        "relying_parties": .integer(Int64(updater.inForce.current.service.relyingParties.all.count)),
      ])
  }
}
