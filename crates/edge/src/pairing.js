// Shows what is in the address, and takes the key out of it, so that no history keeps it.
const key = new URLSearchParams(location.hash.slice(1)).get("key");
document.getElementById("host").value =
  location.protocol === "https:" ? location.origin : location.host;
document.getElementById("key").value = key ?? "";
document.getElementById("missing").hidden = Boolean(key);
document.getElementById("sent").value = key ?? "";
document.getElementById("enter").hidden = !key;
history.replaceState(null, "", location.pathname);
for (const field of document.querySelectorAll("input")) {
  field.addEventListener("focus", () => field.select());
}
