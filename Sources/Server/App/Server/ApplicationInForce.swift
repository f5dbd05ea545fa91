import Base

/// The application that answers. It is replaced as a whole: a request takes it once, at its beginning, and keeps it to
/// its end, so that no reply rests on parts of two configurations.
final class ApplicationInForce: Sendable {
  private let application: Locked<Application>

  init(_ application: Application) { self.application = Locked(application) }

  var current: Application { application.withLock { $0 } }

  func replace(by application: Application) { self.application.withLock { $0 = application } }
}
