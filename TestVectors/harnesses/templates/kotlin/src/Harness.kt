// A harness for a verifier in Kotlin or Java: complete `verify` and the description, and add the verifier to pom.xml.
//
//     mvn package
//     mdoc vectors run --exec "java -cp 'target/classes:target/dependency/*' HarnessKt"

import java.time.Instant

/** Judges one DeviceResponse with the verifier's strictest documented use. A verifier's exception is a rejection. */
fun verify(question: Question) {
    if (question.protocol != "proximity") throw Unsupported("mdoc over ${question.protocol}")
    val response = question.input
    val transcript = question.sessionBytes("transcript")
    val time = Instant.parse(question.validationTime)
    val docTypes = question.docTypes
    val anchors = question.trustedCertificates

    // MyVerifier(anchors).verify(response, transcript, time, docTypes)
    listOf(response, transcript, time, docTypes, anchors)
    throw Unsupported("the template judges nothing yet")
}

fun main() = serve(
    Description(
        name = "my-verifier",
        version = "0.1.0",
        profiles = listOf("core"),
        leaves = listOf(
            "strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"),
        use = "verify with the trust anchors, the transcript, the time and the document type.",
        documentation = "https://example.org/my-verifier",
    ),
    ::verify,
)
