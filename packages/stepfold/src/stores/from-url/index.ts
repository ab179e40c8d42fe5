export { publicUrl } from "../../urls/public-url.ts";
export { parseStoreUrl, type StoreUrl } from "./parse-store-url.ts";
export type { Site, StoreOfUrlOptions } from "./site.ts";
export { siteFromUrl, storeFromUrl } from "./store-from-url.ts";
