import type { Attempts, Boxes, shopWorkflows } from "./shop-workflows.ts";

/** Something that happens in the shop. Times are those of 29 November 2026 in UTC, such as `09:00:20`. */
export type ShopAct =
  | {
      readonly at: string;
      readonly start: keyof typeof shopWorkflows;
      readonly id: string;
      readonly input: unknown;
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | { readonly at: string; readonly answer: string; readonly by: string; readonly payload: unknown }
  | { readonly at: string; readonly signal: string; readonly to: string; readonly key: string }
  | { readonly at: string; readonly cancel: string; readonly by: string; readonly reason: string };

const shopped = (order: string, customer: string, total: number) => ({
  order,
  customer,
  total,
  express: total > 1_000,
  shipping: "standard",
});
const busy = { message: "503 Service Unavailable" };
const declined = { message: "The card of Ada Verne expired in 10/2026.", code: "DECLINED", isFinal: true };

/** How the services of the shop have answered, where it was not at once and well: `undo reserve` is the compensation of `reserve`. */
export const shopAttempts: Attempts = {
  "order-1001": {
    charge: [
      { ms: 13_962, error: busy },
      { ms: 31_000, error: busy },
    ],
  },
  "order-0990": {
    price: [{ ms: 41 }],
    reserve: [{ ms: 212 }],
    charge: [
      { ms: 400, error: busy },
      { ms: 400, error: busy },
      { ms: 3_000, error: busy },
      { ms: 1_000, error: { message: "No answer within 1 s", code: "TIMEOUT" } },
      { ms: 400, error: declined },
    ],
  },
  "order-0988": { charge: [{ ms: 900, error: busy }] },
  "order-0983": { ship: [{ ms: 30_000, error: { message: "The carrier has not answered within 30 s", code: "TIMEOUT", isFinal: true } }] },
  "order-0977": {
    ship: [{ ms: 900, error: { message: "The carrier does not deliver to 51 Minories", code: "NO_DELIVERY", isFinal: true } }],
    "undo reserve": [{ ms: 1_200, error: { message: "The hold is not known any more", code: "HOLD_GONE", isFinal: true } }],
  },
  "post-211": { render: [{ ms: 86_400_000 }] },
  "import-88": { pages: [{ ms: 900 }] },
};

/** How many boxes orders have. */
export const shopBoxes: Boxes = { "order-1001": 10_000, "order-1000": 20, "restock-31": 2_400 };

const completed: readonly (readonly [at: string, id: string, customer: string, total: number])[] = [
  ["07:58:40", "order-0961", "Grace Hopper", 88.2],
  ["08:01:12", "order-0963", "Blaise Pascal", 1_950],
  ["08:04:09", "order-0964", "Hedy Lamarr", 31],
  ["08:07:00", "order-0966", "Konrad Zuse", 402.15],
  ["08:09:33", "order-0968", "Radia Perlman", 14.9],
  ["08:10:16", "order-0979", "Maria Theresia von Paradis", 120.5],
  ["08:12:37", "order-0980", "Ida Rhodes", 77.1],
  ["08:20:20", "order-0981", "Jean Bartik", 912],
  ["08:21:41", "order-0982", "Kathleen Booth", 18.5],
  ["08:30:02", "order-0985", "Mary Kenneth Keller", 64],
  ["08:47:40", "order-0986", "Edsger Dijkstra", 1_120],
  ["08:47:51", "order-0987", "Barbara Liskov", 249.9],
];

/** What happens on a morning, in its order. */
export const shopStory: readonly ShopAct[] = [
  ...completed.map(([at, id, customer, total]): ShopAct => ({ at, start: "olderOrder", id, input: shopped(id.slice(6), customer, total) })),
  { at: "07:49:12", start: "importing", id: "import-88", input: { pages: 4_000_000, catalogue: "garden" } },
  { at: "08:05:10", start: "contentApproval", id: "0199b2f4-7c1a-7e3d-9a41-5f0c22d7f3b2", input: { title: "Ten years of Bodmin Moor" } },
  { at: "08:13:55", start: "contentApproval", id: "post-209", input: { title: "What the tide left behind" } },
  { at: "08:24:10", start: "olderOrder", id: "order-0983", input: shopped("983", "Joan Clarke", 45) },
  { at: "08:30:48", start: "tripBooking", id: "trip-4415", input: { trip: "4415", to: "Lissabon" } },
  {
    at: "08:31:17",
    start: "tripBooking",
    id: "trip-4416",
    input: { trip: "4416", to: "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" },
  },
  { at: "08:39:58", start: "contentApproval", id: "post-211", input: { title: "A year in the archive" } },
  { at: "08:40:05", start: "contentApproval", id: "post-212", input: { title: "How to read a map" } },
  { at: "08:41:30", cancel: "trip-4415", by: "ada", reason: "customer called" },
  { at: "08:43:12", start: "olderOrder", id: "order-0977", input: shopped("977", "Alan Turing", 300) },
  { at: "08:37:20", signal: "payment", to: "trip-4416", key: "4416" },
  { at: "08:44:00", answer: "post-209", by: "cy", payload: { approved: true, comment: "lovely" } },
  { at: "08:48:09", start: "tripBooking", id: "trip-4417", input: { trip: "4417", to: "Triest" } },
  { at: "08:51:44", start: "olderOrder", id: "order-0990", input: shopped("990", "Ada Verne", 180), metadata: { region: "eu" } },
  { at: "08:53:20", start: "newerOrder", id: "order-0991", input: shopped("991", "Emmy Noether", 640) },
  { at: "08:55:11", start: "order", id: "order-0988", input: shopped("988", "John Backus", 2_420) },
  { at: "08:55:40", answer: "order-0988", by: "bob", payload: { approved: true } },
  { at: "08:56:05", answer: "order-0988", by: "ada", payload: { approved: true, comment: "a regular customer" } },
  { at: "09:00:02", start: "order", id: "order-1000", input: shopped("1000", "Katherine Johnson", 5_180) },
  {
    at: "09:00:20",
    start: "order",
    id: "order-1001",
    input: shopped("1001", "Ada Verne", 8_412),
    metadata: { region: "eu", tier: "gold" },
  },
  { at: "09:02:12", start: "restock", id: "restock-31", input: { shelves: [4, 7, 12] } },
  { at: "09:01:37", answer: "order-1001", by: "bob", payload: { approved: true, comment: "stock is reserved" } },
];

/** When the story ends, and the pictures are taken. */
export const storyEnd = "09:02:31";
