// Numbers cross the boundary as bytes, so that a page receives one array and not a list.

export const floats = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
