// Views bytes as an array of 32-bit floats. wasm returns arrays of numbers as bytes, because otherwise JavaScript would box each number.

export const floats = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
