plugins {
    kotlin("jvm") version "2.0.21"
    application
}

repositories { mavenCentral() }

dependencies { implementation("com.google.code.gson:gson:2.10.1") }

application { mainClass.set("HarnessKt") }
