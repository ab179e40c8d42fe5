import { defineDurable } from "stepfold";
import { z } from "zod";

/** Where the pages come from, and where their sizes go. */
export interface Warehouse {
  fetch(url: string): Promise<string>;
  store(row: { readonly url: string; readonly bytes: number; readonly key: string }): Promise<void>;
}

const page = defineDurable({
  id: "page",
  input: z.object({ url: z.string() }),
  output: z.number(),
  async run({ input: { url }, step }, { warehouse }: { readonly warehouse: Warehouse }) {
    // a result is kept in the history: so the size, and not the page
    const bytes = await step.run("fetch", { retry: { maxAttempts: 3, interval: "1s" } }, async () => (await warehouse.fetch(url)).length);
    await step.run("store", ({ idempotencyKey: key }) => warehouse.store({ url, bytes, key }));
    return bytes;
  },
});

/** Loads many pages, at most 20 at once. One in ten may fail. */
export const etl = defineDurable({
  id: "etl",
  input: z.object({ urls: z.array(z.string()) }),
  workflows: [page],
  async run({ input, step }) {
    const items = input.urls.map((url) => ({ url }));
    const loaded = await step.map("pages", items, page, { concurrency: 20, toleratedFailures: "10%" });
    const sizes = loaded.filter((size) => typeof size === "number");
    return { pages: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  },
});
