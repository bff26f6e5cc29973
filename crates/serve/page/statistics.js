// Numbers
export function draw() { return null; }
export function follow() {}
