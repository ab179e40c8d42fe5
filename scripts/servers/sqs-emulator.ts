// Runs the emulator of SQS on the loopback interface; the emulator's own command would listen on all interfaces.
import { buildApp } from "fauxqs";

await buildApp({ logger: false, host: "127.0.0.1" }).listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
