import { layoutOf } from "./graph-layout.ts";
import type { LayoutRequest } from "./layout-request.ts";

self.addEventListener("message", ({ data }: MessageEvent<LayoutRequest>) => self.postMessage(layoutOf(data)));
