import type { CommandHandler } from "./command.ts";
import { maxDocumentBytes } from "./document.ts";
import { maxMessageBytes } from "./wire-message.ts";

/** Describes a server like MongoDB 7.0 without a replica set, so that clients use neither retryable writes nor transactions. */
const hello: CommandHandler = () => ({
  ismaster: true,
  isWritablePrimary: true,
  helloOk: true,
  maxBsonObjectSize: maxDocumentBytes,
  maxMessageSizeBytes: maxMessageBytes,
  maxWriteBatchSize: 100_000,
  localTime: new Date(),
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 21,
  readOnly: false,
  ok: 1,
});

const done: CommandHandler = () => ({ ok: 1 });

/** The commands with which clients learn about the server. Sessions have no state here. */
export const handshakeCommands: Readonly<Record<string, CommandHandler>> = {
  hello,
  ismaster: hello,
  isMaster: hello,
  ping: done,
  endSessions: done,
  buildInfo: () => ({ version: "7.0.0", versionArray: [7, 0, 0, 0], maxBsonObjectSize: maxDocumentBytes, ok: 1 }),
};
