import Base
import Glibc

/// What `mdoc serve` calls: from the command line to the exit code.
extension VerifierServer {
  /// Serves in live mode until SIGTERM or SIGINT. Returns the exit code: 0 after a graceful stop, 78 for a
  /// configuration that may not serve, 75 for a port or store that cannot be had. A stop that does not end in its time
  /// ends the process with 70.
  package static func run(configurationFile: String) async -> Int32 {
    await run(stoppedBy: { await $0.stopWithNotice() }) { log async throws(StartError) in
      // A server that is asked to reload must not end; one in test mode ends with its terminal.
      ReloadSignal.install()
      let configuration = try ConfigurationLoader(path: configurationFile).load()
      return try await VerifierServer.start(configuration, log: log, clock: Timestamp.systemNow)
    }
  }

  /// Brings the store to this version's schema and ends: `mdoc serve --migrate`.
  package static func migrate(configurationFile: String) async -> Int32 {
    await migrate(isLive: true) { () throws(StartError) in
      try ConfigurationLoader(path: configurationFile).load().store
    }
  }

  package static func migrateTestMode(_ store: StoreLocation) async -> Int32 { await migrate(isLive: false) { store } }

  private static func migrate(isLive: Bool, _ find: () throws(StartError) -> StoreLocation) async -> Int32 {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    let log = Log(sink: writer.write)
    let code: Int32
    do throws(StartError) {
      let store = try find()
      try await store.migrate(isLive: isLive)
      log.write(.info, "store.migrated", at: .systemNow(), ["store": .string("\(store)"), "livemode": .bool(isLive)])
      code = 0
    } catch {
      log.write(.error, "store.not_migrated", at: .systemNow(), ["message": .string(error.message)])
      code = error.exitCode
    }
    await writer.close()
    return code
  }

  /// Starts a server, with a log on standard error, waits for SIGTERM or SIGINT, and stops it.
  package static func run(
    stoppedBy stop: (VerifierServer) async -> Void, _ start: (Log) async throws(StartError) -> VerifierServer
  ) async -> Int32 {
    let writer = LogWriter(descriptor: STDERR_FILENO)
    let log = Log(sink: writer.write)
    StopSignal.install()
    let code: Int32
    do throws(StartError) {
      let server = try await start(log)
      let time = server.stopTimes.total
      await StopSignal.wait { StopWatchdog.start(after: time, log: log) }
      await stop(server)
      code = 0
    } catch {
      log.write(.error, "server.not_started", at: .systemNow(), ["message": .string(error.message)])
      code = error.exitCode
    }
    await writer.close()
    return code
  }
}

extension Timestamp {
  /// The wall clock's.
  package static func systemNow() -> Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
