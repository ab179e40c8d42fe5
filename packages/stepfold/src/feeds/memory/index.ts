export { memoryFeed } from "./memory-feed.ts";
