import { Miniflare, type MiniflareOptions } from "miniflare";
import { rolldown } from "rolldown";

/** workerd with a worker, which is bundled from its source. The worker's binding to itself, and others, are in the options. */
export async function openWorkerd(source: string, options: object): Promise<Miniflare> {
  const bundle = await rolldown({ input: source, external: ["cloudflare:workers"], platform: "neutral" });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  const workerd = new Miniflare({
    host: "127.0.0.1",
    // it asks nobody where it is
    cf: false,
    modules: true,
    script: output[0].code,
    compatibilityDate: "2026-01-01",
    ...options,
  } as MiniflareOptions);
  await workerd.ready;
  return workerd;
}
