// The types of htm.mjs: those of its package.
export { default } from "htm";
