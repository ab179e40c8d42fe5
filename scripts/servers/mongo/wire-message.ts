import { type Document, serialize } from "bson";
import { CommandError } from "./command-error.ts";
import { maxMessageDocumentBytes, readDocument } from "./document.ts";

// The message format: https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md

// codes of the kinds of messages, and flags of OP_MSG
const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;
const checksumPresent = 1;
const moreToCome = 2;

/** The size of the longest message in bytes, as `hello` reports it to clients. */
export const maxMessageBytes = 48_000_000;

export interface WireMessage {
  readonly requestId: number;
  readonly opCode: number;
  readonly wantsReply: boolean;
  /** Reads the command. Throws CommandError 10334 for a document that is too large. */
  command(): Document;
}

/** Splits complete messages off the front of `bytes`, and returns them and the rest. */
export function splitMessages(bytes: Buffer): { readonly messages: Buffer[]; readonly rest: Buffer } {
  const messages: Buffer[] = [];
  let start = 0;
  while (bytes.length - start >= 4) {
    const length = bytes.readInt32LE(start);
    if (length < 16 || length > maxMessageBytes) throw new RangeError(`a message of ${length} bytes`);
    if (bytes.length - start < length) break;
    messages.push(bytes.subarray(start, start + length));
    start += length;
  }
  return { messages, rest: bytes.subarray(start) };
}

export function readMessage(message: Buffer): WireMessage {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  const flags = message.readInt32LE(16);
  if (opCode === opQuery) return { requestId, opCode, wantsReply: true, command: () => readQuery(message) };
  if (opCode !== opMsg) throw new RangeError(`the operation ${opCode}`);
  const end = message.length - (flags & checksumPresent ? 4 : 0);
  return { requestId, opCode, wantsReply: !(flags & moreToCome), command: () => readSections(message.subarray(20, end)) };
}

/** Reads an OP_QUERY, which only older clients send, for their handshake. */
function readQuery(message: Buffer): Document {
  const numbersToSkip = 8;
  const endOfName = message.indexOf(0, 20) + 1;
  return { ...readSized(message, endOfName + numbersToSkip), $db: "admin" };
}

/** Joins the sections of a message. One section is the command; the others are lists outside of it, such as the documents of an insert. */
function readSections(sections: Buffer): Document {
  const command: Document = {};
  let position = 0;
  while (position < sections.length) {
    const kind = sections.readUInt8(position);
    const length = sections.readInt32LE(position + 1);
    const end = position + 1 + length;
    if (kind === 0) Object.assign(command, readSized(sections, position + 1));
    else {
      const endOfName = sections.indexOf(0, position + 5);
      command[sections.toString("utf8", position + 5, endOfName)] = readList(sections.subarray(endOfName + 1, end));
    }
    position = end;
  }
  return command;
}

function readList(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let position = 0; position < bytes.length; position += bytes.readInt32LE(position)) documents.push(readSized(bytes, position));
  return documents;
}

function readSized(bytes: Buffer, position: number): Document {
  const length = bytes.readInt32LE(position);
  if (length > maxMessageDocumentBytes) {
    const hex = length.toString(16).toUpperCase();
    const message = `BSONObj size: ${length} (0x${hex}) is invalid. Size must be between 0 and ${maxMessageDocumentBytes}(16MB)`;
    throw new CommandError(10334, message);
  }
  return readDocument(bytes.subarray(position, position + length));
}

export function writeReply({ requestId, opCode }: WireMessage, reply: Document): Buffer {
  const body = serialize(reply, { ignoreUndefined: true });
  const head = Buffer.alloc(opCode === opQuery ? 36 : 21);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(requestId, 8);
  head.writeInt32LE(opCode === opQuery ? opReply : opMsg, 12);
  // In an OP_REPLY this field is the number of documents. The flags, the cursor and the kind of the first section are 0.
  if (opCode === opQuery) head.writeInt32LE(1, 32);
  return Buffer.concat([head, body]);
}
