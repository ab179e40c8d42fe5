import { isJsonObject, type Json } from "../../../core/values/json.ts";
import { isScalar, type Marker, type ValueCodec, type ValueLocation } from "./codec.ts";
import { isStructural, type Layout } from "./layout.ts";

/** A place in a copy that still needs the encoded form of its value. */
interface Slot {
  readonly kind: "value" | "text" | "metadata" | "permit";
  /** The value as JSON. */
  readonly text: string;
  /** Puts the encoded value into the copy. */
  fill(encoded: Json): void;
}

/**
 * Copies parts of a commit, and replaces the values in the copies by their encoded form. The copies are made synchronously, so the caller
 * may change the originals afterwards; they are complete when `fill` resolves.
 */
export class ValueEncoder {
  readonly #codec: ValueCodec;
  readonly #slots: Slot[] = [];

  constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  /** Copies one part of a commit. Its values are missing until `fill` resolves. */
  copy<T>(layout: Layout, part: T): T {
    const holder: { copied?: Json } = {};
    this.#copyPart(layout, part as Json, (copied) => {
      holder.copied = copied;
    });
    return holder.copied as T;
  }

  /** Puts the encoded values into all copies. */
  async fill(location: ValueLocation): Promise<void> {
    const { metadata, permit } = this.#codec;
    const values = this.#slots.filter(({ kind }) => kind === "value" || kind === "text");
    const texts = values.map(({ text }) => text);
    const encoded = texts.length > 0 ? await this.#codec.encode(texts, location) : [];
    values.forEach((slot, index) => {
      const fields = encoded[index] ?? null;
      slot.fill(this.#storedForm(slot, fields && { [this.#codec.mark]: 1, ...fields }));
    });
    for (const { kind, text, fill } of this.#slots) {
      const codec = kind === "metadata" ? metadata : kind === "permit" ? permit : undefined;
      if (codec) fill(await codec.encode(text, location));
    }
  }

  #storedForm({ kind, text }: Slot, marker: Marker | null): Json {
    const { mark } = this.#codec;
    // a value of a user that contains something like a marker is wrapped in a marker, because a reader would take it for one
    const escaped = marker ?? (text.includes(`"${mark}`) ? { [mark]: 1, json: text } : null);
    if (escaped === null) return JSON.parse(text) as Json;
    return kind === "text" ? `${mark}:${JSON.stringify(escaped)}` : escaped;
  }

  #copyPart(layout: Layout, part: Json, fill: (copied: Json) => void): void {
    if (typeof layout === "string") this.#copyLeaf(layout, part, fill);
    else if ("listOf" in layout && Array.isArray(part)) {
      const copied: Json[] = [];
      fill(copied);
      part.forEach((member: Json, index) => {
        this.#copyPart(layout.listOf, member, (inner) => {
          copied[index] = inner;
        });
      });
    } else if (!("listOf" in layout) && isJsonObject(part)) {
      const layoutOf = "recordOf" in layout ? () => layout.recordOf : (key: string) => layout.fields.get(key) ?? "value";
      this.#copyMembers(part, layoutOf, fill);
    } else this.#copyLeaf("value", part, fill);
  }

  #copyMembers(part: Readonly<Record<string, Json | undefined>>, layoutOf: (key: string) => Layout, fill: (copied: Json) => void): void {
    const copied: Record<string, Json> = {};
    fill(copied);
    for (const [key, member] of Object.entries(part)) {
      if (member === undefined) continue;
      this.#copyPart(layoutOf(key), member, (inner) => {
        // with the key `__proto__` an assignment would set the prototype and not add a member
        Object.defineProperty(copied, key, { value: inner, enumerable: true, writable: true, configurable: true });
      });
    }
  }

  #copyLeaf(leaf: string, part: Json, fill: (copied: Json) => void): void {
    if (leaf === "structure" && isStructural(part)) fill(Array.isArray(part) ? [...part] : part);
    else if ((leaf === "metadata" || leaf === "permit") && isJsonObject(part)) this.#copyRecord(leaf, part, fill);
    else {
      // adds the member now, so that the keys keep their order
      fill(null);
      const text = JSON.stringify(part);
      this.#slots.push({ kind: leaf === "text" && typeof part === "string" ? "text" : "value", text, fill });
    }
  }

  /** Copies metadata or a permit. If the codec has no method for them, scalar members stay as they are. */
  #copyRecord(kind: "metadata" | "permit", part: Readonly<Record<string, Json>>, fill: (copied: Json) => void): void {
    if (this.#codec[kind]) {
      fill({});
      this.#slots.push({ kind, text: JSON.stringify(part), fill });
    } else this.#copyMembers(part, (key) => (isScalar(part[key]) ? "structure" : "value"), fill);
  }
}
