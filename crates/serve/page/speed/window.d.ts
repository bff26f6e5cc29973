// What watch.js adds to the page.
interface Window {
  speed: import("./watch.js").Speed;
}
