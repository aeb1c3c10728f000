// Arrays of numbers leave wasm as bytes. This view avoids an array of boxed numbers.

export const floats = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
