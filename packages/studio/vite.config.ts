import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    // the first versions with popovers and `light-dark()`
    target: ["chrome125", "firefox128", "safari17.5"],
    // the policy of the page allows no data in URLs except pictures
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});
