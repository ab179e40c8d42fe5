import { existsSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "./fetch-package.ts";
import { pingTimeoutMs, type Service } from "./service.ts";
import { servicesFolder } from "./services-folder.ts";
import { findProgram } from "./system.ts";

// Amazon's DynamoDB Local, in the only npm package that ships it. The package is fetched but not installed, because it has many
// dependencies.
const packageVersion = "amplify-dynamodb-simulator@2.9.30";
const packageIntegrity = "sha512-xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==";

export const dynamodb: Service = {
  name: "dynamodb",
  urlVariable: "STEPFOLD_DYNAMODB_URL",
  portVariable: "STEPFOLD_DYNAMODB_PORT",
  standardPort: 8000,
  url: (port) => `http://127.0.0.1:${port}`,

  async ping(url) {
    // DynamoDB Local requires a signature but does not verify it. Other servers do not know this command.
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "DynamoDB_20120810.ListTables",
        authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      },
      body: "{}",
      signal: AbortSignal.timeout(pingTimeoutMs),
    });
    const text = await response.text();
    // A real DynamoDB refuses the signature with one of these texts.
    if (!text.includes("TableNames") && !/com\.amazon|IncompleteSignature|UnrecognizedClient/.test(text)) {
      throw new RangeError(`somebody else answers: HTTP ${response.status}`);
    }
  },

  missing: () => {
    if (!findProgram("java")) return { debianPackages: ["default-jre-headless"], install: fetchEmulator };
    return existsSync(join(emulatorFolder(), jar)) ? undefined : { install: fetchEmulator };
  },

  // DynamoDB Local listens on all interfaces and has no option to change this: run it only in a trusted network.
  prepare: async (_folder, port) => ({
    program: findProgram("java")!,
    args: [...virtualMachine, "-Djava.library.path=./DynamoDBLocal_lib", "-jar", jar, "-inMemory", "-port", String(port)],
    cwd: emulatorFolder(),
    stopSignal: "SIGTERM",
  }),
};

const jar = "DynamoDBLocal.jar";

/**
 * The options of the Java virtual machine. The server runs only for minutes, so optimizing compilation and parallel garbage collection
 * would take more time than they save.
 */
const virtualMachine = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

function emulatorFolder(): string {
  return join(servicesFolder(), "dynamodb", "package", "emulator");
}

function fetchEmulator(): void {
  if (!existsSync(join(emulatorFolder(), jar)))
    fetchPackage(packageVersion, packageIntegrity, join(servicesFolder(), "dynamodb"), "emulator");
}
