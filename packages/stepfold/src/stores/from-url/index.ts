export { publicUrl } from "../../urls/public-url.ts";
export type { Site, StoreOfUrlOptions } from "./site.ts";
export { siteFromUrl, storeFromUrl } from "./store-from-url.ts";
