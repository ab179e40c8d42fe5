export { defineConfig, type GlobalsContext, type OpenGlobals, type StepfoldConfig } from "./config/config.ts";
