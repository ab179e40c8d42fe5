import { createHmac } from "node:crypto";

export const bytes = Buffer.alloc(32, 7);
/** The secret of a webhook, as text. */
export const secret = `whsec_${bytes.toString("base64")}`;

/** Returns the headers of an event, which are signed over the bytes of the body. */
export function signed(id: string, body: string | Uint8Array, at: number = Date.now(), key: Buffer = bytes): Record<string, string> {
  const time = `${Math.floor(at / 1000)}`;
  const mac = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${mac}` };
}
