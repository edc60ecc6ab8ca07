export class Refused extends Error {
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}
async function answer(response) {
    if (response.ok) {
        return (await response.json());
    }
    let message = `the server answered ${response.status}`;
    try {
        message = (await response.json()).error;
    }
    catch {
    }
    throw new Refused(message, response.status);
}
export async function get(path) {
    return answer(await fetch(path));
}
export async function post(path, body, signal) {
    const init = {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
    };
    if (signal) {
        init.signal = signal;
    }
    return answer(await fetch(path, init));
}
export async function upload(file) {
    const path = `/api/read?name=${encodeURIComponent(file.name)}`;
    const headers = { "Content-Type": "application/octet-stream" };
    return answer(await fetch(path, { method: "POST", headers, body: file }));
}
export function bytesOf(view) {
    const text = atob(view.data);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) {
        bytes[at] = text.charCodeAt(at);
    }
    return bytes;
}
