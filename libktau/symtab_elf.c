// SPDX-License-Identifier: LGPL-2.1-or-later
/* Symbols and build-id of an ELF file (vmlinux), of either class and byte order. */
#include <gelf.h>
#include <libelf.h>

#include "symtab_elf.h"

static bool is_text_section(Elf *elf, size_t index)
{
	Elf_Scn *section = elf_getscn(elf, index);
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) &&
	       (header.sh_flags & SHF_EXECINSTR);
}

/* The letter that nm(1) would print, as far as ranks depend on it; 0: skip the symbol. */
static char symbol_type(Elf *elf, const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	int bind = GELF_ST_BIND(symbol->st_info);
	bool text;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    type == STT_SECTION || type == STT_FILE || type == STT_TLS)
		return 0;
	text = is_text_section(elf, symbol->st_shndx);
	if (!text || type == STT_OBJECT)
		return bind == STB_LOCAL ? 'd' : 'D';
	if (bind == STB_WEAK)
		return 'W';
	return bind == STB_LOCAL ? 't' : 'T';
}

static int read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			const struct ktau__elf_sink *sink)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct ktau__elf_symbol found;
	GElf_Ehdr file;
	GElf_Sym symbol;
	bool is_arm = gelf_getehdr(elf, &file) && file.e_machine == EM_ARM;
	int i, err = 0;

	for (i = 0; !err && data && gelf_getsym(data, i, &symbol); i++) {
		found.address = symbol.st_value;
		/* Bit 0 says that the function is Thumb code. */
		if (is_arm && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			found.address &= ~1ULL;
		found.type = symbol_type(elf, &symbol);
		if (!found.type)
			continue;
		found.name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (found.name && *found.name && *found.name != '$')
			err = sink->symbol(sink->arg, &found);
	}
	return err;
}

static void read_note(Elf_Scn *section, struct ktau__elf_sink *sink)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at))) {
		const char *base = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(base + name_at, "GNU", 4) ||
		    note.n_descsz > sizeof(sink->build_id))
			continue;
		memcpy(sink->build_id, base + desc_at, note.n_descsz);
		sink->build_id_bytes = note.n_descsz;
	}
}

int ktau__elf_read(int fd, const void *image, size_t size, struct ktau__elf_sink *sink)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = image ? elf_memory((char *)image, size) : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -EINVAL;
	}
	while (!err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			err = read_symbols(elf, section, &header, sink);
		else if (header.sh_type == SHT_NOTE)
			read_note(section, sink);
	}
	elf_end(elf);
	return err;
}
