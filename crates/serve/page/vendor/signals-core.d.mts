// The types of signals-core.mjs: those of its package.
export * from "@preact/signals-core";
