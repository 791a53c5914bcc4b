export function scanMeta(): undefined { return undefined; }
