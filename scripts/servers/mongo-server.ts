import { createServer, type Socket } from "node:net";
import type { Document } from "bson";
import { aggregateCommand } from "./mongo/aggregate-command.ts";
import { Catalog } from "./mongo/catalog.ts";
import { catalogCommands } from "./mongo/catalog-commands.ts";
import type { Command, CommandHandler, Storage } from "./mongo/command.ts";
import { asCommandError, CommandError } from "./mongo/command-error.ts";
import { CursorTable } from "./mongo/cursor-table.ts";
import { handshakeCommands } from "./mongo/handshake-commands.ts";
import { readCommands } from "./mongo/read-commands.ts";
import { readMessage, splitMessages, type WireMessage, writeReply } from "./mongo/wire-message.ts";
import { writeCommands } from "./mongo/write-commands.ts";
import { listenOnLoopback, type StandIn, serveAlone } from "./stand-in.ts";

const handlers = new Map<string, CommandHandler>(
  [handshakeCommands, readCommands, aggregateCommand, writeCommands, catalogCommands].flatMap((commands) => Object.entries(commands)),
);

/**
 * Starts a stand-in for a single mongod without a replica set: OP_MSG as the official driver speaks it, with mingo for queries, updates
 * and pipelines, and with unique and partial indexes.
 *
 * It is our reading of MongoDB, and finds mistakes in the use of the driver and in what is written. It cannot prove isolation (each
 * command runs alone), durability, write and read concerns, retryable writes, the use of indexes, sort orders that differ from mingo's,
 * or the exact code of every error. TTL indexes delete nothing, unique indexes do not look into arrays, transactions and change streams
 * are refused as by a mongod without a replica set, `$out` and `$merge` by other fields than `_id` are missing, and 64-bit integers are
 * returned as doubles.
 */
export async function mongoServer(): Promise<StandIn> {
  const storage: Storage = { catalog: new Catalog(), cursors: new CursorTable() };
  const server = createServer((socket) => serve(socket, storage));
  return listenOnLoopback(server, "mongodb");
}

function serve(socket: Socket, storage: Storage): void {
  let received: Buffer[] = [];
  let awaitedBytes = 0;
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    awaitedBytes -= chunk.length;
    // A long message comes in many chunks, which are joined when all of them have arrived.
    if (awaitedBytes > 0) return;
    try {
      const { messages, rest } = splitMessages(Buffer.concat(received));
      for (const message of messages.map(readMessage)) {
        const reply = writeReply(message, answer(message, storage));
        if (message.wantsReply) socket.write(reply);
      }
      received = rest.length > 0 ? [rest] : [];
      awaitedBytes = rest.length >= 4 ? rest.readInt32LE(0) - rest.length : 0;
    } catch (error) {
      // The connection of a client that does not speak the protocol is closed, as by MongoDB.
      socket.destroy(error instanceof Error ? error : undefined);
    }
  });
}

function answer(message: WireMessage, storage: Storage): Document {
  try {
    const command = message.command() as Command;
    const [name = ""] = Object.keys(command);
    if (command.autocommit === false) {
      throw new CommandError(20, "Transaction numbers are only allowed on a replica set member or mongos");
    }
    const handler = handlers.get(name);
    if (!handler) throw new CommandError(59, `no such command: '${name}'`);
    return handler(command, storage);
  } catch (error) {
    return asCommandError(error, 2).reply;
  }
}

if (import.meta.main) await serveAlone(mongoServer);
