// The emulator of SQS on loopback; its own command listens on all interfaces.
import { buildApp } from "fauxqs";

await buildApp({ logger: false, host: "127.0.0.1" }).listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
